// Step time and loss of a launch over its steps, while it runs.
#pragma once

#include <QWidget>
#include <memory>

#include "views/models/launch_model.h"

namespace strato {

class StepCharts : public QWidget {
  Q_OBJECT
 public:
  explicit StepCharts(const LaunchModel& model, QWidget* parent = nullptr);
  ~StepCharts() override;
  void refresh();

 protected:
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Parts;
  void build();
  void recolour();

  const LaunchModel& model_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace strato
