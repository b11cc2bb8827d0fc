#include "app/explorer/notice_strip.h"

#include <QDesktopServices>
#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QUrl>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kMostLines = 12;

}  // namespace

NoticeStrip::NoticeStrip(Session& session, QWidget* parent)
    : QFrame(parent),
      session_(session),
      text_(new QLabel(this)),
      more_(new QToolButton(this)),
      open_(new QToolButton(this)) {
  setAutoFillBackground(true);
  setBackgroundRole(QPalette::ToolTipBase);
  text_->setForegroundRole(QPalette::ToolTipText);
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  more_->setCheckable(true);
  more_->setAutoRaise(true);
  open_->setText(tr("Open"));
  open_->setAutoRaise(true);
  auto* close = new QToolButton(this);
  close->setText(tr("Dismiss"));
  close->setAutoRaise(true);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(3 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  row->addWidget(text_, 1);
  row->addWidget(more_, 0, Qt::AlignTop);
  row->addWidget(open_, 0, Qt::AlignTop);
  row->addWidget(close, 0, Qt::AlignTop);
  connect(close, &QToolButton::clicked, this, &QWidget::hide);
  connect(more_, &QToolButton::toggled, this, &NoticeStrip::show_text);
  connect(open_, &QToolButton::clicked, this,
          [this] { QDesktopServices::openUrl(QUrl::fromLocalFile(file_)); });
  connect(&session_, &Session::written, this, &NoticeStrip::show_written);
  connect(&session_, &Session::problem_changed, this, &NoticeStrip::refresh);
  refresh();
}

void NoticeStrip::refresh() {
  const QStringList& warnings = session_.snapshot().warnings;
  setVisible(!warnings.isEmpty());
  more_->setVisible(warnings.size() > 1);
  open_->hide();
  more_->setChecked(false);
  show_text();
}

void NoticeStrip::show_written(const QString& file) {
  file_ = QFileInfo(file).absoluteFilePath();
  text_->setText(tr("Wrote %1").arg(QDir::toNativeSeparators(file_)));
  more_->hide();
  open_->setToolTip(tr("With the program that the desktop has for such files"));
  open_->show();
  show();
}

void NoticeStrip::show_text() {
  const QStringList& warnings = session_.snapshot().warnings;
  if (warnings.isEmpty()) return;
  const bool all = more_->isChecked();
  QStringList lines = all ? warnings.mid(0, kMostLines) : warnings.mid(0, 1);
  if (all && warnings.size() > kMostLines) {
    lines << tr("and %1 more").arg(warnings.size() - kMostLines);
  }
  text_->setText(lines.join(QLatin1Char('\n')));
  more_->setText(all ? tr("Less") : QStringLiteral("%1 more").arg(warnings.size() - 1));
}

}  // namespace strato
