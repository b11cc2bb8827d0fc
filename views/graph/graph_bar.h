// The strip above the graph: where one is, what was found, what the colours mean, what can be done.
// Knows nothing about sessions.
#pragma once

#include <QWidget>

#include "views/graph/overlay.h"

class QAction;
class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QToolButton;

namespace strato {

class GraphBar : public QWidget {
  Q_OBJECT
 public:
  explicit GraphBar(QWidget* parent = nullptr);

  // The opened levels from the outermost; the last is where one is. `count`: what it holds.
  void set_path(const QStringList& names, const QString& count);
  void set_hint(const QString& text);
  void set_found(const QString& text);        // beside the field; an empty text hides it
  void set_query_error(const QString& text);  // below the field; an empty text hides it
  void show_stop(bool shown);                 // a layout takes long
  void focus_find();
  bool finds() const;  // the field has the keyboard
  void clear_find();
  QString query() const;
  void set_overlay(Overlay overlay);
  QMenu& menu() { return *menu_; }

 signals:
  void level_wanted(int depth);  // 0: the outermost
  void query_changed(const QString& text);
  void query_entered();
  void overlay_chosen(strato::Overlay overlay);
  void fit_wanted();
  void stop_wanted();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void make_find();
  void make_overlays();
  QToolButton* button(const QString& text, const QString& tip);
  void refresh_path();

  QLabel *path_, *hint_, *found_, *error_;
  QLineEdit* find_;
  QComboBox* overlays_;
  QToolButton* stop_;
  QMenu* menu_;
  QStringList names_;
  QString count_;
};

}  // namespace strato
