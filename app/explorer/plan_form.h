// What is to be planned, on the start page: a model, a cluster and a batch. Return plans from every
// field but the box for texts, where Ctrl+Return does.
#pragma once

#include <QWidget>
#include <cstdint>

class QLabel;
class QPushButton;
class QSpinBox;

namespace strato {

class ClusterFields;
class ModelField;

struct PlanWish {
  QString model, cluster;  // files; the cluster may be a name: "h100-8x8"
  std::int64_t batch = 0;
  bool as_written = false;  // as the model's script lays it out, instead of a search
};

class PlanForm : public QWidget {
  Q_OBJECT
 public:
  explicit PlanForm(QWidget* parent = nullptr);

  void choose_model(const QString& file);
  void choose_cluster(const QString& name);
  void plan(bool as_written = false);
  void say(const QString& trouble);  // beside the buttons; empty: there is none

 signals:
  void plan_wanted(const PlanWish& wish);
  void open_wanted();  // a file is to be chosen

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void build();
  void take_model();
  void refresh();

  ModelField* model_;
  ClusterFields* cluster_;
  QSpinBox* batch_;
  QPushButton *as_written_, *plan_;
  QLabel* trouble_;
  bool batch_is_chosen_ = false;  // by a person
};

}  // namespace strato
