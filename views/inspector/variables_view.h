// Variables and how they are synchronised: a table, and a form for those that are chosen in it.
// Upright in the inspector, of the groups selected; wide as a view of its own, with a filter.
#pragma once

#include <QWidget>

#include "views/models/variable_model.h"

class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QTableView;

namespace strato {

class SyncForm;
namespace style {
class GivingArea;
}

class VariablesView : public QWidget {
  Q_OBJECT
 public:
  enum class Shape { Wide, Upright };
  explicit VariablesView(Session& session, Shape shape = Shape::Wide, QWidget* parent = nullptr);
  ~VariablesView() override;

  VariableModel& model() { return *model_; }
  QTableView& table() { return *table_; }
  SyncForm& form() { return *form_; }
  QLineEdit& filter() { return *filter_; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void build_table(bool wide);
  void lay_out_wide();
  void lay_out_upright();
  std::shared_ptr<const Graph> graph() const;
  void take_rows();  // the table's selection to the form
  void keep_rows();  // by their variables, over a reset
  void refresh_note();

  Session& session_;
  const Shape shape_;
  VariableModel* model_;
  QSortFilterProxyModel* sorted_;
  QTableView* table_;
  QLineEdit* filter_;
  QLabel* note_;
  SyncForm* form_;
  style::GivingArea* form_area_ = nullptr;  // Wide only
  std::vector<OpId> chosen_;
  std::shared_ptr<const Graph> chosen_of_;
};

}  // namespace strato
