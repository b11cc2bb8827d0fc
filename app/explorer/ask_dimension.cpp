#include "app/explorer/ask_dimension.h"

#include <QCoreApplication>
#include <QInputDialog>
#include <QRegularExpression>
#include <QVariant>

#include "app/explorer/open_files.h"
#include "views/models/session.h"

namespace strato {
namespace {

// As importers write it.
constexpr const char* kError =
    "^(.+?): input \"(.*)\", dimension (\\d+): the symbolic dimension \"(.*)\" is not bound; "
    "give it with --set-dim";
constexpr int kUsualExtent = 128, kMostExtent = 1 << 30;

// What was answered so far, kept with the window: "file" and a number for each name.
QVariantMap answers_for(const QWidget& parent, const QString& file) {
  const QVariantMap kept = parent.property("dimensions").toMap();
  return kept.value(QStringLiteral("file")).toString() == file
             ? kept
             : QVariantMap{{QStringLiteral("file"), file}};
}

ImportOptions import_with(const QVariantMap& answers) {
  ImportOptions import;
  import.batch = answers.value(QStringLiteral("batch"), qlonglong(kDefaultBatch)).toLongLong();
  for (auto answer = answers.begin(); answer != answers.end(); ++answer) {
    if (answer.key().startsWith(QLatin1Char('=')))
      import.dimensions[answer.key().mid(1).toStdString()] = answer.value().toLongLong();
  }
  return import;
}

constexpr qlonglong kMostBatch = (qlonglong(1) << 31) - 1;

}  // namespace

void keep_answers(QWidget& parent, const QStringList& files, const ImportOptions& import) {
  for (const QString& file : files) {
    if (!file.endsWith(QStringLiteral(".onnx"))) continue;
    QVariantMap answers{{QStringLiteral("file"), file}};
    if (import.batch) answers[QStringLiteral("batch")] = qlonglong(*import.batch);
    for (const auto& [name, extent] : import.dimensions)
      answers[QLatin1Char('=') + QString::fromStdString(name)] = qlonglong(extent);
    parent.setProperty("dimensions", answers);
  }
}

std::optional<ImportOptions> import_options_from(const QString& batch, const QStringList& dimensions,
                                                 QString& problem) {
  ImportOptions options;
  if (!batch.isEmpty()) {
    bool whole = false;
    options.batch = batch.toLongLong(&whole);
    if (!whole || *options.batch < 1 || *options.batch > kMostBatch) {
      problem = QCoreApplication::translate("AskDimension",
                                            "--batch %1: is no batch; give a whole number from 1 to %2")
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

std::optional<UnboundDimension> unbound_dimension(const QString& error) {
  static const QRegularExpression form(QString::fromUtf8(kError),
                                       QRegularExpression::DotMatchesEverythingOption);
  const QRegularExpressionMatch match = form.match(error);
  if (!match.hasMatch()) return std::nullopt;
  return UnboundDimension{match.captured(1), match.captured(2), match.captured(4),
                          match.captured(3).toInt()};
}

bool ask_dimension(Session& session, const QString& error, QWidget& parent) {
  const std::optional<UnboundDimension> unbound = unbound_dimension(error);
  if (!unbound) return false;
  auto* dialog = new QInputDialog(&parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName(QStringLiteral("ask-dimension"));
  dialog->setWindowTitle(QCoreApplication::translate("AskDimension", "Dimension of the model"));
  dialog->setLabelText(
      QCoreApplication::translate("AskDimension", "How large is “%1” (dimension %2 of input “%3”)?")
          .arg(unbound->name)
          .arg(unbound->axis)
          .arg(unbound->input));
  dialog->setInputMode(QInputDialog::IntInput);
  dialog->setIntRange(0, kMostExtent);
  dialog->setIntValue(kUsualExtent);
  QObject::connect(dialog, &QInputDialog::intValueSelected, &parent,
                   [&session, &parent, unbound = *unbound](int extent) {
                     QVariantMap answers = answers_for(parent, unbound.file);
                     answers[QLatin1Char('=') + unbound.name] = extent;
                     parent.setProperty("dimensions", answers);
                     session.open_model(unbound.file.toStdString(), import_with(answers), {});
                   });
  dialog->open();
  return true;
}

}  // namespace strato
