#include "app/explorer/start_page.h"

#include <QCommandLinkButton>
#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "views/style/style.h"

namespace strato {

StartPage::StartPage(QWidget* parent) : QWidget(parent) {
  auto* title = new QLabel(
      QStringLiteral("Find out how fast a model trains on a cluster, and why not faster"), this);
  QFont large = title->font();
  large.setPointSizeF(large.pointSizeF() * 1.5);
  large.setWeight(QFont::DemiBold);
  title->setFont(large);
  title->setWordWrap(true);
  auto* column = new QVBoxLayout;
  column->setSpacing(3 * style::kGrid);
  column->addWidget(title);
  const auto choice = [&](const char* text, const char* next, auto signal) {
    auto* button = new QCommandLinkButton(QString::fromUtf8(text), QString::fromUtf8(next), this);
    button->setIcon({});
    button->setMinimumHeight(16 * style::kGrid);
    connect(button, &QCommandLinkButton::clicked, this, signal);
    column->addWidget(button);
  };
  choice(
      "Open a model…",
      "An ONNX file: it is imported, grouped and simulated as data parallel. Then search, or edit.",
      &StartPage::open_model_wanted);
  choice("Start from a sample",
         "VGG19 on a cluster of fast and slow machines, where data parallelism waits for the slow "
         "ones.",
         &StartPage::sample_wanted);
  choice("Learn it in a lesson",
         "The first of eight short lessons in this window: what a computation graph is, and what its "
         "training costs.",
         &StartPage::lesson_wanted);
  choice("Open a workspace…",
         "Goes on where an earlier session, or the command line, has stopped: all runs and edits "
         "are kept.",
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
