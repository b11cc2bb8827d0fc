#include "views/launch/log_page.h"

#include <QComboBox>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QVBoxLayout>

#include "views/style/style.h"

namespace strato {

LogPage::LogPage(const LaunchModel& model, QWidget* parent)
    : QWidget(parent), model_(model), rank_(new QComboBox(this)), text_(new QPlainTextEdit(this)) {
  text_->setReadOnly(true);
  text_->setFrameShape(QFrame::NoFrame);
  text_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  text_->setLineWrapMode(QPlainTextEdit::WidgetWidth);
  text_->setTabChangesFocus(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  text_->setAccessibleName(tr("Log of a rank"));
  auto* label = new QLabel(tr("Ran&k"), this);
  label->setBuddy(rank_);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  row->addWidget(label);
  row->addWidget(rank_);
  row->addStretch(1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(text_, 1);
  connect(rank_, &QComboBox::currentIndexChanged, this, &LogPage::refill);
  reset();
}

void LogPage::reset() {
  rank_->clear();
  for (int rank = 0; rank < model_.ranks(); ++rank) rank_->addItem(QString::number(rank));
  rank_->setEnabled(model_.ranks() > 0);
  text_->setPlaceholderText(model_.ranks() > 0
                                ? tr("This rank has written nothing yet")
                                : tr("What the ranks write is here once they are launched"));
  refill();
}

void LogPage::show_rank(int rank) {
  if (rank >= 0 && rank < rank_->count()) rank_->setCurrentIndex(rank);
}

void LogPage::add(int rank) {
  if (rank == rank_->currentIndex()) refill();
}

void LogPage::refill() {
  QScrollBar* bar = text_->verticalScrollBar();
  const bool at_end = bar->value() >= bar->maximum() - 2;
  const int before = bar->value();
  text_->setPlainText(model_.log(rank_->currentIndex()));
  bar->setValue(at_end ? bar->maximum() : before);
}

}  // namespace strato
