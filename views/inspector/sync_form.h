// How the chosen variables are synchronised, to be changed: each field is one edit of the session,
// undoable and simulated at once. Of a variable in several parts, those parts that are selected in
// the list are changed, all when none is. Where the variables differ, a field says so. What a
// choice would do is shown while the cursor is on it; what cannot be is refused with the reason.
#pragma once

#include <QWidget>
#include <vector>

#include "views/models/session.h"
#include "views/models/variable_edits.h"

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QSpinBox;
class QToolButton;

namespace strato {

class DeviceField;
class EditPreview;
class PartList;
class RingField;

class SyncForm : public QWidget {
  Q_OBJECT
 public:
  // `compact`: nothing but a line of text while there is nothing to change.
  SyncForm(Session& session, bool compact, QWidget* parent = nullptr);
  ~SyncForm() override;
  void show_variables(std::vector<OpId> updates);

  QComboBox& synchroniser() { return *synchroniser_; }
  QSpinBox& parts() { return *parts_; }
  QSpinBox& axis() { return *axis_; }
  QLineEdit& partition() { return *partition_; }
  PartList& part_list() { return *part_list_; }
  QToolButton& servers();
  QCheckBox& stations() { return *stations_; }
  DeviceField& stations_at() { return *stations_at_; }
  QComboBox& encoding() { return *encoding_; }
  QSpinBox& merge_group() { return *merge_; }
  RingField& ring() { return *ring_; }
  QSpinBox& staleness() { return *staleness_; }
  EditPreview& preview() { return *preview_; }
  // What a choice would do, and why one was not taken: below the fields, unless it is put
  // elsewhere.
  QWidget& messages() { return *messages_; }
  QString effect_text() const;  // of the choice under the cursor
  QString refusal() const;      // why the last choice was not taken; empty: it was

 protected:
  void enterEvent(QEnterEvent* event) override;  // a menu or list over it is closed
  void leaveEvent(QEvent* event) override;

 private:
  struct Common;  // what the chosen parts have in common

  void build();
  void build_parts();
  void build_message();
  void build_reduction();
  QWidget* add_line(const QString& name, QWidget* field, const QString& tip);
  QWidget* add_line(const QString& name, QWidget* field, QWidget* labelled, const QString& tip);
  void connect_fields();
  void connect_devices();
  void refresh();
  void show_nothing();
  void show_syncs(const std::vector<VariableSync>& syncs);
  void show_reduction(const std::vector<VariableSync>& syncs, const Common& common);
  void show_encodings();
  void choose_synchroniser(int index);
  void choose_partition();
  void choose(SyncChoice choice, const QString& what);
  void preview_choice(SyncChoice choice);
  void preview_number(QSpinBox* box, std::optional<int> SyncChoice::*number, int least);
  void tell(const QString& why_none);
  void forget();
  void edit(const Strategy& strategy, const QString& what, const QStringList& refused = {});
  QString what_is_changed(const QString& what) const;

  Session& session_;
  const bool compact_;
  std::vector<QWidget*> lines_;       // labels and fields
  std::vector<QWidget*> part_lines_;  // those of the list of parts
  std::vector<OpId> updates_;         // chosen
  QGridLayout* grid_ = nullptr;
  QLabel *note_ = nullptr, *scope_ = nullptr, *effect_line_ = nullptr, *refused_ = nullptr;
  QComboBox *synchroniser_ = nullptr, *encoding_ = nullptr;
  QSpinBox *parts_ = nullptr, *axis_ = nullptr, *merge_ = nullptr, *staleness_ = nullptr;
  QLineEdit* partition_ = nullptr;
  PartList* part_list_ = nullptr;
  DeviceField *servers_ = nullptr, *stations_at_ = nullptr;
  QWidget* stations_label_ = nullptr;
  QCheckBox* stations_ = nullptr;
  RingField* ring_ = nullptr;
  QWidget* messages_ = nullptr;
  EditPreview* preview_;
};

}  // namespace strato
