// A model with a dimension of no extent, as exporters leave them: the window asks for it.
#include "app/explorer/ask_dimension.h"

#include <gtest/gtest.h>

#include <QInputDialog>
#include <QWidget>

#include "views/models/session.h"

namespace strato {
namespace {

TEST(AskDimension, TheAnswerOpensWhatWasToBeOpened) {
  QWidget window;
  std::int64_t said = 0;
  ask_dimension(
      {QStringLiteral("m.onnx"), QStringLiteral("ids"), QStringLiteral("längste %1 folge"), 1,
       [&](std::int64_t extent) { said = extent; }},
      window);
  auto* dialog = window.findChild<QInputDialog*>(QStringLiteral("ask-dimension"));
  ASSERT_TRUE(dialog);
  EXPECT_TRUE(dialog->labelText().contains(QStringLiteral("“ids”")))
      << qPrintable(dialog->labelText());
  EXPECT_TRUE(dialog->labelText().contains(QStringLiteral("dimension 1")));
  dialog->setIntValue(64);
  EXPECT_EQ(said, 0);
  dialog->accept();
  EXPECT_EQ(said, 64);
}

TEST(AskDimension, TheCommandLineIsUnderstood) {
  QString problem;
  const auto import = import_options_from(QStringLiteral("8"), {QStringLiteral("a=b=3")}, problem);
  ASSERT_TRUE(import) << qPrintable(problem);
  EXPECT_EQ(import->batch, 8);
  EXPECT_EQ(import->dimensions.at("a=b"), 3);
}

TEST(AskDimension, BadWordsOnTheCommandLineAreTold) {
  for (const char* batch : {"0", "-3", "x", "2147483648", "1.5"}) {
    QString problem;
    EXPECT_FALSE(import_options_from(QString::fromUtf8(batch), {}, problem)) << batch;
    EXPECT_TRUE(problem.startsWith(QStringLiteral("--batch "))) << batch;
  }
  for (const char* text : {"n", "n=", "=4", "n=-1", "n=x"}) {
    QString problem;
    EXPECT_FALSE(import_options_from(QString(), {QString::fromUtf8(text)}, problem)) << text;
    EXPECT_TRUE(problem.startsWith(QStringLiteral("--set-dim "))) << text;
  }
  QString problem;
  EXPECT_FALSE(import_options_from(QString(), {}, problem)->batch);
}

}  // namespace
}  // namespace strato
