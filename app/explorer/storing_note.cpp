#include "app/explorer/storing_note.h"

#include <QPushButton>
#include <algorithm>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kSpace = 4 * style::kGrid;

}  // namespace

StoringNote::StoringNote(const QString& file, QWidget* window, std::function<void()> leave,
                         std::chrono::milliseconds patience)
    : QLabel(tr("Writing the last changes to %1…").arg(file), window),
      file_(file),
      leave_(new QPushButton(tr("Close &Anyway"), this)) {
  setTextFormat(Qt::PlainText);
  setAutoFillBackground(true);
  setFrameShape(QFrame::Box);
  setMargin(kSpace);
  setWordWrap(true);
  setAlignment(Qt::AlignLeft | Qt::AlignTop);
  leave_->hide();
  connect(leave_, &QPushButton::clicked, this, [leave = std::move(leave)] { leave(); });
  patience_.setSingleShot(true);
  connect(&patience_, &QTimer::timeout, this, &StoringNote::offer_to_leave);
  patience_.start(patience);
  place();
  show();
}

void StoringNote::offer_to_leave() {
  setText(
      tr("Writing the last changes to %1 takes long: its disk does not answer. The window closes "
         "as soon as they are written.\n\nIf you close it anyway, the changes that are not "
         "written yet are lost; what was written before stays.")
          .arg(file_));
  leave_->show();
  place();
  leave_->setFocus();
}

// In the middle of the window, the button below the words.
void StoringNote::place() {
  const bool offers = !leave_->isHidden();
  const int most = std::min(window()->width() - 2 * kSpace, 60 * fontMetrics().averageCharWidth());
  const int wanted = fontMetrics().horizontalAdvance(text()) + 2 * kSpace + 2 * frameWidth();
  const int width = std::max(std::min(most, wanted), 8 * kSpace);
  const int words = heightForWidth(width);
  leave_->adjustSize();
  resize(width, words + (offers ? leave_->height() + kSpace : 0));
  leave_->move(width - leave_->width() - kSpace, words);
  move(window()->rect().center() - rect().center());
}

}  // namespace strato
