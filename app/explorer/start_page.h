// What there is to begin with: recent files, samples, and a model of one's own on a cluster that a
// few fields make. Return opens what has the focus.
#pragma once

#include <QWidget>

#include "app/explorer/plan_form.h"
#include "core/plugin/load/plugin_registry.h"

class QPushButton;
class QTableWidget;
class QTreeWidget;
class QTreeWidgetItem;

namespace strato {

class StartPage : public QWidget {
  Q_OBJECT
 public:
  // `plugins` must outlive it: they tell what kind recent files are of.
  explicit StartPage(const PluginRegistry& plugins, QWidget* parent = nullptr);

  void show_recent(const QStringList& files);  // paths, the latest first
  void take_keys();                            // the focus, where reading begins
  // A model or a cluster goes into the fields; what cannot be opened is told there. False: it is
  // something else, to be opened as it is.
  bool take(const QString& file);
  void say(const QString& trouble);      // what became of the last Plan
  void offer_return(bool to_something);  // to what is open

 signals:
  void open_wanted(const QString& file);  // as it is: a plan, a workspace
  void choose_file_wanted();
  void plan_wanted(const PlanWish& wish);
  void lesson_wanted();
  void return_wanted();

 private:
  QWidget* build_recent();
  QWidget* build_samples();
  void fill_samples();
  void choose_sample(const QTreeWidgetItem& item);
  void open_sample(const QTreeWidgetItem& item);

  const PluginRegistry& plugins_;
  QTableWidget* recent_;
  QTreeWidget* samples_;
  PlanForm* form_ = nullptr;
  QPushButton* return_;
};

}  // namespace strato
