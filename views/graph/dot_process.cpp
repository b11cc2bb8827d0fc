#include "views/graph/dot_process.h"

#include <QCryptographicHash>

namespace strato {
namespace {
constexpr int kLimitMs = 15'000;
constexpr int kMostKnown = 64;
}  // namespace

DotProcess::DotProcess(QObject* parent) : QObject(parent) {
  limit_.setSingleShot(true);
  limit_.setInterval(kLimitMs);
  connect(&limit_, &QTimer::timeout, this, [this] {
    cancel();
    fall_back(tr("Graphviz took too long: this is a simple layout"));
  });
}

DotProcess::~DotProcess() {
  cancel();
  for (QProcess* process : findChildren<QProcess*>()) process->waitForFinished(1000);
}

// Asks the process to end and deletes it when it has: nobody waits for it.
void DotProcess::cancel() {
  limit_.stop();
  if (!process_) return;
  QProcess* process = std::exchange(process_, nullptr);
  process->disconnect(this);
  connect(process, &QProcess::finished, process, &QObject::deleteLater);
  process->kill();
  if (process->state() == QProcess::NotRunning) process->deleteLater();
}

void DotProcess::give_up() {
  if (!process_) return;
  cancel();
  fall_back(tr("This is a simple layout"));
}

void DotProcess::request(const LayoutRequest& request) {
  cancel();
  request_ = request;
  kept_.clear();
  joined_ = without_isolated(request, kept_);
  if (joined_.nodes.empty()) return answer({}, {});
  const QByteArray text = to_dot(joined_);
  key_ = QCryptographicHash::hash(text, QCryptographicHash::Sha1);
  if (const auto found = known_.constFind(key_); found != known_.constEnd()) {
    const GraphLayout layout = *found;
    return answer(layout, {});
  }
  limit_.start();
  process_ = new QProcess(this);
  connect(process_, &QProcess::finished, this, &DotProcess::finished);
  connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    cancel();
    fall_back(
        tr("Graphviz's dot was not found: this is a simple layout (install the package graphviz)"));
  });
  QProcess* process = process_;
  process->start(program_, {QStringLiteral("-Tplain")});
  if (process != process_) return;  // it failed to start, and was answered
  process->write(text);
  process->closeWriteChannel();
}

void DotProcess::finished(int exit_code, QProcess::ExitStatus status) {
  const auto layout = parse_plain(process_->readAllStandardOutput(), joined_);
  cancel();
  if (!layout || exit_code != 0 || status != QProcess::NormalExit)
    return fall_back(tr("Graphviz could not lay this out: this is a simple layout"));
  if (known_.size() >= kMostKnown) known_.clear();
  known_.insert(key_, *layout);
  answer(*layout, {});
}

void DotProcess::fall_back(const QString& hint) { answer(layered_layout(joined_), hint); }

void DotProcess::answer(const GraphLayout& joined, const QString& hint) {
  emit done(with_isolated(joined, request_, kept_), hint);
}

}  // namespace strato
