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
  connect(&process_, &QProcess::finished, this, &DotProcess::finished);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (dropped_ || error != QProcess::FailedToStart) return;
    limit_.stop();
    fall_back(
        tr("Graphviz's dot was not found: this is a simple layout (install the package graphviz)"));
  });
}

DotProcess::~DotProcess() { cancel(); }

void DotProcess::cancel() {
  limit_.stop();
  dropped_ = true;
  if (process_.state() == QProcess::NotRunning) return;
  process_.kill();
  process_.waitForFinished(1000);
}

void DotProcess::request(const LayoutRequest& request) {
  cancel();
  request_ = request;
  if (request.nodes.empty()) {
    emit done({}, {});
    return;
  }
  const QByteArray text = to_dot(request);
  key_ = QCryptographicHash::hash(text, QCryptographicHash::Sha1);
  if (const auto found = known_.constFind(key_); found != known_.constEnd()) {
    const GraphLayout layout = *found;
    emit done(layout, {});
    return;
  }
  dropped_ = false;
  limit_.start();
  process_.start(program_, {QStringLiteral("-Tplain")});
  process_.write(text);
  process_.closeWriteChannel();
}

void DotProcess::finished(int exit_code, QProcess::ExitStatus status) {
  limit_.stop();
  const QByteArray answer = process_.readAllStandardOutput();
  if (dropped_) return;
  const auto layout = parse_plain(answer, request_);
  if (!layout || exit_code != 0 || status != QProcess::NormalExit) {
    fall_back(tr("Graphviz could not lay this out: this is a simple layout"));
    return;
  }
  if (known_.size() >= kMostKnown) known_.clear();
  known_.insert(key_, *layout);
  emit done(*layout, {});
}

void DotProcess::fall_back(const QString& hint) { emit done(layered_layout(request_), hint); }

}  // namespace strato
