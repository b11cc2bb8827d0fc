#include "app/explorer/ask_dimension.h"

#include <QCoreApplication>
#include <QInputDialog>

#include "views/models/session.h"

namespace strato {
namespace {

constexpr int kUsualExtent = 128, kMostExtent = 1 << 30;
constexpr int kUsualRank = 2, kMostRank = 8;

constexpr qlonglong kMostBatch = (qlonglong(1) << 31) - 1;

}  // namespace

std::optional<ImportOptions> import_options_from(const QString& batch,
                                                 const QStringList& dimensions, QString& problem) {
  ImportOptions options;
  if (!batch.isEmpty()) {
    bool whole = false;
    options.batch = batch.toLongLong(&whole);
    if (!whole || *options.batch < 1 || *options.batch > kMostBatch) {
      problem = QCoreApplication::translate(
                    "AskDimension", "--batch %1: is no batch; give a whole number from 1 to %2")
                    .arg(batch)
                    .arg(kMostBatch);
      return std::nullopt;
    }
  }
  for (const QString& text : dimensions) {
    const auto middle = text.lastIndexOf(QLatin1Char('='));
    bool whole = false;
    const qlonglong extent = text.mid(middle + 1).toLongLong(&whole);
    if (middle < 1 || !whole || extent < 0) {
      problem = QCoreApplication::translate(
                    "AskDimension", "--set-dim %1: is not NAME=N; write --set-dim length=128")
                    .arg(text);
      return std::nullopt;
    }
    options.dimensions[text.left(middle).toStdString()] = extent;
  }
  return options;
}

void ask_dimension(const WantedDimension& wanted, QWidget& parent) {
  auto* dialog = new QInputDialog(&parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName(QStringLiteral("ask-dimension"));
  dialog->setWindowTitle(QCoreApplication::translate("AskDimension", "Dimension of the model"));
  const bool rank = wanted.axis < 0;
  dialog->setLabelText(
      rank ? QCoreApplication::translate(
                 "AskDimension", "How many dimensions has input “%1”? The file does not say.")
                 .arg(wanted.input)
           : QCoreApplication::translate("AskDimension",
                                         "How large is “%1” (dimension %2 of input “%3”)?")
                 .arg(wanted.name, QString::number(wanted.axis), wanted.input));
  dialog->setInputMode(QInputDialog::IntInput);
  dialog->setIntRange(0, rank ? kMostRank : kMostExtent);
  dialog->setIntValue(rank ? kUsualRank : kUsualExtent);
  QObject::connect(dialog, &QInputDialog::intValueSelected, &parent,
                   [open = wanted.open](int extent) { open(extent); });
  dialog->open();
}

}  // namespace strato
