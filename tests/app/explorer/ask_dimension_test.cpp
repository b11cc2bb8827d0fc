// A model with a dimension of no extent, as exporters leave them: the window asks for it.
#include "app/explorer/ask_dimension.h"

#include <gtest/gtest.h>

#include <QInputDialog>
#include <QTest>
#include <QWidget>

#include "tests/app/explorer/sample.h"
#include "views/models/session.h"

namespace strato {
namespace {

QString unbound(const QString& file, const char* name) {
  return QStringLiteral(
             "%1: input \"ids\", dimension 1: the symbolic dimension \"%2\" is not bound; "
             "give it with --set-dim %2=N")
      .arg(file, QString::fromUtf8(name));
}

TEST(AskDimension, KnowsWhatAnErrorIsAbout) {
  const auto found = unbound_dimension(unbound(QStringLiteral("/a b: c/m.onnx"), "längste folge"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file, QStringLiteral("/a b: c/m.onnx"));
  EXPECT_EQ(found->input, QStringLiteral("ids"));
  EXPECT_EQ(found->name, QStringLiteral("längste folge"));
  EXPECT_EQ(found->axis, 1);
  EXPECT_FALSE(unbound_dimension(QStringLiteral("m.onnx: is empty; copy the file again")));
  EXPECT_FALSE(unbound_dimension(QString()));
}

TEST(AskDimension, TheAnswerOpensTheModelAgain) {
  Session session;
  QStringList failed;
  QObject::connect(&session, &Session::failed, [&](const QString& text) { failed << text; });
  QWidget window;
  const QString file = sample("models/lenet.onnx");
  ASSERT_TRUE(ask_dimension(session, unbound(file, "length"), window));
  auto* dialog = window.findChild<QInputDialog*>(QStringLiteral("ask-dimension"));
  ASSERT_TRUE(dialog);
  dialog->setIntValue(64);
  dialog->accept();
  session.settle();
  // This model has no such dimension: what comes back names it, so the answer went along.
  ASSERT_TRUE(QTest::qWaitFor([&] { return !failed.isEmpty(); }, kPatience));
  EXPECT_TRUE(failed.front().contains(QStringLiteral("--set-dim length")))
      << qPrintable(failed.front());
  EXPECT_FALSE(ask_dimension(session, failed.front(), window));
}

TEST(AskDimension, WhatTheCommandLineSaidStays) {
  Session session;
  QStringList failed;
  QObject::connect(&session, &Session::failed, [&](const QString& text) { failed << text; });
  QWidget window;
  const QString file = sample("models/lenet.onnx");
  QString problem;
  const auto import = import_options_from(QStringLiteral("8"), {QStringLiteral("a=b=3")}, problem);
  ASSERT_TRUE(import) << qPrintable(problem);
  EXPECT_EQ(import->batch, 8);
  EXPECT_EQ(import->dimensions.at("a=b"), 3);
  keep_answers(window, {sample("clusters/gdp.json"), file}, *import);
  ASSERT_TRUE(ask_dimension(session, unbound(file, "length"), window));
  window.findChild<QInputDialog*>(QStringLiteral("ask-dimension"))->accept();
  session.settle();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !failed.isEmpty(); }, kPatience));
  EXPECT_TRUE(failed.front().contains(QStringLiteral("--set-dim a=b"))) << qPrintable(failed.front());
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
