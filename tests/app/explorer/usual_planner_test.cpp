// The window offers the planner that suits what is open, until a person chooses one.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QTest>

#include "app/explorer/header_bar.h"
#include "app/explorer/main_window.h"
#include "tests/app/explorer/sample.h"
#include "views/models/session.h"

namespace strato {
namespace {

TEST(OfferedPlanner, SuitsTheProblemUntilSomebodyChooses) {
  Session session;
  MainWindow window(session, false);
  auto* planner = window.findChild<HeaderBar*>()->findChild<QComboBox*>("planner");
  const auto open = [&](const char* model, std::int64_t batch) {
    ImportOptions import;
    import.batch = batch;
    session.open_model(sample(model).toStdString(), import, {});
    session.settle();
  };
  session.open_cluster(sample("clusters/tag-2x1080ti.json").toStdString());
  open("models/lenet.onnx", 32);
  EXPECT_EQ(planner->currentText(), QStringLiteral("mcts"));
  open("models/gpt2_medium.json", 64);  // more than either of the devices holds
  EXPECT_EQ(planner->currentText(), QStringLiteral("meshes"));
  open("models/lenet.onnx", 32);
  EXPECT_EQ(planner->currentText(), QStringLiteral("mcts"));
  const int chosen = planner->findText(QStringLiteral("heft"));
  planner->setCurrentIndex(chosen);
  Q_EMIT planner->activated(chosen);
  open("models/gpt2_medium.json", 64);
  EXPECT_EQ(planner->currentText(), QStringLiteral("heft"));
}

// By kind, each with what it does; headings are not for choosing.
TEST(OfferedPlanner, StandsAmongItsKind) {
  Session session;
  MainWindow window(session, false);
  auto* planner = window.findChild<HeaderBar*>()->findChild<QComboBox*>("planner");
  const auto* model = planner->model();
  int headings = 0, planners = 0;
  for (int row = 0; row < model->rowCount(); ++row) {
    const QModelIndex index = model->index(row, 0);
    if (index.flags() == Qt::NoItemFlags) {
      ++headings;
      EXPECT_NE(planner->currentIndex(), row);
    } else {
      ++planners;
      EXPECT_FALSE(index.data(Qt::ToolTipRole).toString().isEmpty());
    }
  }
  EXPECT_EQ(planners, static_cast<int>(session.plugins().list(PluginKind::Planner).size()));
  EXPECT_GE(headings, 4);
}

}  // namespace
}  // namespace strato
