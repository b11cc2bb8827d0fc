#include "app/explorer/start_page.h"

#include <QCommandLinkButton>
#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "views/style/style.h"

namespace strato {

StartPage::StartPage(QWidget* parent) : QWidget(parent) {
  auto* title =
      new QLabel(tr("Find out how fast a model trains on a cluster, and why not faster"), this);
  QFont large = title->font();
  large.setPointSizeF(large.pointSizeF() * 1.5);
  large.setWeight(QFont::DemiBold);
  title->setFont(large);
  title->setWordWrap(true);
  auto* column = new QVBoxLayout;
  column->setSpacing(3 * style::kGrid);
  column->addWidget(title);
  const auto choice = [&](const char* text, const char* next, auto signal) {
    auto* button = new QCommandLinkButton(tr(text), tr(next), this);
    button->setIcon({});
    button->setMinimumHeight(16 * style::kGrid);
    connect(button, &QCommandLinkButton::clicked, this, signal);
    column->addWidget(button);
  };
  choice(QT_TR_NOOP("Open a model…"),
         QT_TR_NOOP("An ONNX file: it is imported, grouped and simulated as data parallel. Then "
                    "search, or edit."),
         &StartPage::open_model_wanted);
  choice(
      QT_TR_NOOP("Start from a sample"),
      QT_TR_NOOP(
          "VGG19 on a cluster of fast and slow machines, where data parallelism waits for the slow "
          "ones."),
      &StartPage::sample_wanted);
  choice(QT_TR_NOOP("Learn it in a lesson"),
         QT_TR_NOOP("The first of eight short lessons in this window: what a computation graph is, "
                    "and what its "
                    "training costs."),
         &StartPage::lesson_wanted);
  choice(
      QT_TR_NOOP("Open a workspace…"),
      QT_TR_NOOP(
          "Goes on where an earlier session, or the command line, has stopped: all runs and edits "
          "are kept."),
      &StartPage::open_workspace_wanted);
  auto* layout = new QGridLayout(this);
  layout->setRowStretch(0, 1);
  layout->addLayout(column, 1, 1);
  layout->setRowStretch(2, 2);
  layout->setColumnStretch(0, 1);
  layout->setColumnStretch(1, 6);
  layout->setColumnStretch(2, 1);
}

}  // namespace strato
