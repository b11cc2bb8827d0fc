// The form of a planner's options: made from their help, kept by planner, defaults left out.
#include "views/search/options_form.h"

#include <gtest/gtest.h>

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include "core/base/error.h"

namespace strato {
namespace {

std::vector<OptionHelp> options_of(const std::string& planner) {
  if (planner == "broken") throw InputError("broken", "", "cannot be loaded", "");
  if (planner == "plain") return {};
  return {{"c", "1.5", "how much is explored"},
          {"sfb", "true", "sufficient factors"},
          {"slow", "false", ""},
          {"weights", "", "file of the network's weights"}};
}

class OptionsFormTest : public ::testing::Test {
 protected:
  void show(const QString& planner) {
    form.show_planner(planner);
    ASSERT_TRUE(QTest::qWaitFor([this] { return !form.loading(); }, 10'000));
    QCoreApplication::processEvents();
  }
  PlannerOptions filled(const QString& planner) {
    PlannerOptions options;
    form.fill(planner, options);
    return options;
  }
  template <class Field>
  Field& field(const char* name) {
    auto* found = form.findChild<Field*>(QString::fromUtf8(name));
    EXPECT_NE(found, nullptr) << name;
    return *found;
  }

  OptionsForm form{options_of};
};

TEST_F(OptionsFormTest, LeavesDefaultsOut) {
  show("tag");
  EXPECT_TRUE(filled("tag").set.empty());
  EXPECT_EQ(form.changes("tag"), 0);
  EXPECT_TRUE(form.description("tag").isEmpty());
  EXPECT_EQ(field<QLineEdit>("c").placeholderText(), "1.5");
  EXPECT_TRUE(field<QCheckBox>("sfb").isChecked());
  EXPECT_FALSE(field<QCheckBox>("slow").isChecked());
}

TEST_F(OptionsFormTest, TellsWhatDiffersAndForgetsWhatIsBack) {
  show("tag");
  QSignalSpy changed(&form, &OptionsForm::changed);
  QTest::keyClicks(&field<QLineEdit>("c"), " 3 ");
  field<QCheckBox>("sfb").click();
  EXPECT_GT(changed.count(), 1);
  EXPECT_EQ(filled("tag").set, (OptionsForm::Settings{{"c", "3"}, {"sfb", "false"}}));
  EXPECT_EQ(form.description("tag"), "c=3, sfb=false");
  field<QCheckBox>("sfb").click();
  field<QLineEdit>("c").clear();
  EXPECT_TRUE(filled("tag").set.empty());
}

TEST_F(OptionsFormTest, KeepsWhatEachPlannerWasGiven) {
  show("tag");
  field<QLineEdit>("c").setText("3");
  show("plain");
  EXPECT_TRUE(filled("plain").set.empty());
  EXPECT_EQ(form.findChild<QLineEdit*>("c"), nullptr);
  show("mcts");
  EXPECT_TRUE(field<QLineEdit>("c").text().isEmpty());
  show("tag");
  EXPECT_EQ(field<QLineEdit>("c").text(), "3");
  EXPECT_EQ(filled("tag").set.size(), 1u);
}

TEST_F(OptionsFormTest, SeedAndFloorBelongToEverySearch) {
  show("tag");
  form.findChild<QSpinBox*>()->setValue(7);
  for (QCheckBox* box : form.findChildren<QCheckBox*>())
    if (box->objectName().isEmpty()) box->click();
  EXPECT_EQ(filled("plain").seed, 7u);
  EXPECT_FALSE(filled("plain").floor);
  EXPECT_EQ(form.description("plain"), "seed=7, own result");
  form.findChild<QPushButton*>()->click();
  ASSERT_TRUE(QTest::qWaitFor([this] { return !form.loading(); }, 10'000));
  EXPECT_EQ(form.changes("tag"), 0);
  EXPECT_TRUE(filled("tag").floor);
}

TEST_F(OptionsFormTest, SaysWhyThereIsNothing) {
  const auto says = [this](const char* words) {
    for (const QLabel* label : form.findChildren<QLabel*>())
      if (label->text().contains(QString::fromUtf8(words))) return !label->isHidden();
    return false;
  };
  show("broken");
  EXPECT_TRUE(says("cannot be loaded"));
  show("plain");
  EXPECT_TRUE(says("no options"));
  show("tag");
  EXPECT_FALSE(says("no options"));
}

// Whoever flicks through planners sees the rows of the last one.
TEST_F(OptionsFormTest, ShowsTheLatestOfMany) {
  for (int i = 0; i < 20; ++i) {
    form.show_planner("plain");
    form.show_planner("tag");
    form.show_planner("broken");
  }
  form.show_planner("tag");
  ASSERT_TRUE(QTest::qWaitFor([this] { return form.findChild<QLineEdit*>("c") != nullptr; }));
  EXPECT_EQ(form.findChildren<QLineEdit*>("c").size(), 1);
}

}  // namespace
}  // namespace strato
