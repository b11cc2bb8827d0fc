// What is shown when nothing is open: four big choices, and what happens next.
#pragma once

#include <QWidget>

namespace strato {

class StartPage : public QWidget {
  Q_OBJECT
 public:
  explicit StartPage(QWidget* parent = nullptr);

 signals:
  void open_model_wanted();
  void sample_wanted();
  void lesson_wanted();
  void open_workspace_wanted();
};

}  // namespace strato
