#include "app/explorer/model_field.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTimer>
#include <QVBoxLayout>
#include <functional>
#include <utility>

#include "app/explorer/open_files.h"
#include "core/base/error.h"
#include "views/style/elided_label.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr qsizetype kMostWrapped = 20'000;

// Files that are dropped go to the window. A text larger than what is read is not put in.
class PasteBox : public QPlainTextEdit {
 public:
  PasteBox(std::function<void(const QString&)> refuse, QWidget* parent)
      : QPlainTextEdit(parent), refuse_(std::move(refuse)) {
    setTabChangesFocus(true);
  }
  QSize sizeHint() const override { return {0, lines(6)}; }
  QSize minimumSizeHint() const override { return {0, lines(3)}; }

 protected:
  bool canInsertFromMimeData(const QMimeData* data) const override {
    return !data->hasUrls() && QPlainTextEdit::canInsertFromMimeData(data);
  }
  void insertFromMimeData(const QMimeData* data) override {
    try {
      const QByteArray bytes = data->text().toUtf8();
      check_pasted_size(static_cast<std::size_t>(bytes.size()));
      // Where a long line is to be broken takes minutes to find.
      const auto letters = document()->characterCount() + bytes.size();
      setLineWrapMode(letters < kMostWrapped ? QPlainTextEdit::WidgetWidth
                                             : QPlainTextEdit::NoWrap);
      QPlainTextEdit::insertFromMimeData(data);
    } catch (const InputError& error) {
      refuse_(text(error.what()));
    }
  }

 private:
  int lines(int count) const { return count * fontMetrics().lineSpacing() + 3 * style::kGrid; }

  std::function<void(const QString&)> refuse_;
};

QString words_of(const frameworks::TrainingJob& job, const std::string& name) {
  QStringList words{ModelField::tr("%1: %2").arg(text(job.framework), text(name))};
  if (job.sequence) words << ModelField::tr("%1 tokens a sample").arg(*job.sequence);
  if (job.batch) words << ModelField::tr("batch %1").arg(*job.batch);
  if (job.machines && job.gpus)
    words << ModelField::tr("%1 machines of %2 GPUs").arg(*job.machines).arg(*job.gpus);
  else if (job.gpus)
    words << ModelField::tr("%1 GPUs a machine").arg(*job.gpus);
  QString sentence = words.join(QStringLiteral(", ")) + QLatin1Char('.');
  for (const std::string& remark : job.model->remarks)
    sentence +=
        QLatin1Char(' ') + text(remark).left(1).toUpper() + text(remark).mid(1) + QLatin1Char('.');
  return sentence;
}

}  // namespace

ModelField::ModelField(QWidget* parent)
    : QWidget(parent),
      chosen_(new style::ElidedLabel(Qt::ElideMiddle, this)),
      note_(new QLabel(this)),
      read_soon_(new QTimer(this)) {
  auto* open = new QPushButton(tr("Open File…"), this);
  open->setObjectName(QStringLiteral("open-file"));
  open->setAutoDefault(true);  // Return presses it
  open->setToolTip(tr("ONNX, .pt2, config.json or a script; clusters, plans and workspaces too"));
  connect(open, &QPushButton::clicked, this, &ModelField::open_wanted);
  box_ = new PasteBox([this](const QString& why) { say(why); }, this);
  box_->setObjectName(QStringLiteral("pasted"));
  box_->setAccessibleName(tr("Text that describes a model"));
  box_->setPlaceholderText(
      tr("Paste a model's config.json, or a command line or script of Megatron-LM or torchtitan.\n"
         "Or drop a file."));
  chosen_->setObjectName(QStringLiteral("chosen-model"));
  note_->setObjectName(QStringLiteral("model-note"));
  note_->setWordWrap(true);
  note_->setTextFormat(Qt::PlainText);
  auto* row = new QHBoxLayout;
  row->setSpacing(2 * style::kGrid);
  row->addWidget(chosen_, 1);
  row->addWidget(open);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2 * style::kGrid);
  column->addLayout(row);
  column->addWidget(box_, 1);
  column->addWidget(note_);
  read_soon_->setSingleShot(true);
  read_soon_->setInterval(150);
  connect(read_soon_, &QTimer::timeout, this, &ModelField::read);
  connect(box_, &QPlainTextEdit::textChanged, read_soon_, qOverload<>(&QTimer::start));
  say_what_it_is();
}

void ModelField::choose(const QString& file) {
  file_ = file;
  pasted_.reset();
  QTextCursor all(box_->document());
  all.select(QTextCursor::Document);
  all.removeSelectedText();
  read_soon_->stop();
  say_what_it_is();
  emit changed();
}

void ModelField::read_now() {
  if (!read_soon_->isActive()) return;
  read_soon_->stop();
  read();
}

void ModelField::read() {
  pasted_.reset();
  const std::string given = box_->toPlainText().trimmed().toStdString();
  QString trouble;
  if (!given.empty()) {
    file_.clear();
    try {
      pasted_ = read_pasted(given + "\n");
    } catch (const InputError& error) {
      trouble = text(error.what());
    }
  }
  say_what_it_is();
  if (!trouble.isEmpty()) say(trouble);
  emit changed();
}

void ModelField::say_what_it_is() {
  chosen_->setText(pasted_           ? tr("The text below")
                   : file_.isEmpty() ? tr("None yet")
                                     : QFileInfo(file_).fileName());
  chosen_->setToolTip(file_);
  say(!pasted_       ? QString()
      : pasted_->job ? words_of(*pasted_->job, pasted_->name)
                     : tr("config.json: %1.").arg(text(pasted_->name)));
}

void ModelField::say(const QString& words) {
  note_->setText(words);
  note_->setVisible(!words.isEmpty());
}

const frameworks::TrainingJob* ModelField::job() const {
  return pasted_ && pasted_->job ? &*pasted_->job : nullptr;
}

QString ModelField::model() {
  read_now();
  if (!pasted_) {
    if (file_.isEmpty() && note_->text().isEmpty())
      say(tr("Choose a sample, open a file, or paste a text."));
    if (file_.isEmpty()) box_->setFocus();
    return file_;
  }
  try {
    return text(keep_pasted(*pasted_, pasted_folder().toStdString()).string());
  } catch (const InputError& error) {
    say(text(error.what()));
    return {};
  }
}

}  // namespace strato
