#include "tests/app/explorer/display/hand.h"

#include <gtest/gtest.h>

#include <QProcess>
#include <QTest>
#include <QWidget>

#include "tests/app/explorer/sample.h"

namespace strato {

bool xdotool(const QStringList& arguments) {
  QProcess process;
  process.setProcessChannelMode(QProcess::MergedChannels);
  process.start(QStringLiteral("xdotool"), arguments);
  const bool ended =
      QTest::qWaitFor([&] { return process.state() == QProcess::NotRunning; }, kPatience);
  if (ended && process.exitCode() == 0) return true;
  ADD_FAILURE() << "xdotool " << arguments.join(QLatin1Char(' ')).toStdString() << ": "
                << process.readAll().toStdString();
  return false;
}

void xdotool_later(const QStringList& arguments) {
  QProcess::startDetached(QStringLiteral("xdotool"), arguments);
}

bool press(const QString& keys) { return xdotool({QStringLiteral("key"), keys}); }

bool click(const QWidget& widget) {
  const QPoint at = widget.mapToGlobal(widget.rect().center());
  return xdotool({QStringLiteral("mousemove"), QString::number(at.x()), QString::number(at.y()),
                  QStringLiteral("click"), QStringLiteral("1")});
}

bool focus(const QWidget& window) {
  return xdotool({QStringLiteral("windowfocus"), QString::number(window.winId())});
}

}  // namespace strato
