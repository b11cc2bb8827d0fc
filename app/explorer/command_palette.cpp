#include "app/explorer/command_palette.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kWidth = 620, kHeight = 420, kPageRows = 10;

// Title with the letters that were written in bold, where it is, and its keys at the right.
class CommandDelegate : public QStyledItemDelegate {
 public:
  CommandDelegate(const CommandModel& model, QObject* parent)
      : QStyledItemDelegate(parent), model_(model) {}

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
    return {100, option.fontMetrics.height() + 2 * style::kGrid};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Command& command = model_.command(index.row());
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    painter->save();
    if (selected) painter->fillRect(option.rect, option.palette.highlight());
    const QColor strong = colour(option.palette, command.enabled, selected);
    const QColor weak = selected ? strong : style::muted_text(option.palette);
    QRect rest = option.rect.adjusted(2 * style::kGrid, 0, -2 * style::kGrid, 0);
    painter->setPen(weak);
    const QString right = right_text(command, index.row());
    const int right_width = option.fontMetrics.horizontalAdvance(right);
    painter->drawText(rest, Qt::AlignRight | Qt::AlignVCenter, right);
    rest.setRight(rest.right() - right_width - 3 * style::kGrid);
    const int title_width = paint_title(*painter, rest, option, strong, index.row());
    rest.setLeft(rest.left() + title_width + 3 * style::kGrid);
    painter->setPen(weak);
    if (rest.width() > 40) {
      painter->drawText(rest, Qt::AlignLeft | Qt::AlignVCenter,
                        option.fontMetrics.elidedText(command.path, Qt::ElideRight, rest.width()));
    }
    painter->restore();
  }

 private:
  static QColor colour(const QPalette& palette, bool enabled, bool selected) {
    if (selected) return palette.color(QPalette::HighlightedText);
    return enabled ? palette.color(QPalette::Text)
                   : palette.color(QPalette::Disabled, QPalette::Text);
  }

  QString right_text(const Command& command, int row) const {
    if (!command.enabled) {
      return command.why_disabled.isEmpty() ? tr("not now") : command.why_disabled;
    }
    if (!command.keys.isEmpty()) return command.keys;
    return model_.is_recent(row) ? tr("recent") : QString();
  }

  // Letter by letter only where letters stand out; returns its width.
  int paint_title(QPainter& painter, const QRect& rect, const QStyleOptionViewItem& option,
                  const QColor& ink, int row) const {
    const Command& command = model_.command(row);
    painter.setPen(ink);
    const QString mark = command.checked ? QStringLiteral("✓ ") : QString();
    const QString shown =
        option.fontMetrics.elidedText(mark + command.title, Qt::ElideMiddle, rect.width());
    const QVector<int>& matched = model_.matched(row);
    if (matched.isEmpty() || shown.size() != mark.size() + command.title.size()) {
      painter.drawText(rect, Qt::AlignLeft | Qt::AlignVCenter, shown);
      return option.fontMetrics.horizontalAdvance(shown);
    }
    QFont bold = option.font;
    bold.setBold(true);
    int x = rect.left();
    for (qsizetype from = 0; from < shown.size();) {  // runs of equal weight
      const bool strong = matched.contains(static_cast<int>(from - mark.size()));
      qsizetype to = from + 1;
      while (to < shown.size() && matched.contains(static_cast<int>(to - mark.size())) == strong) {
        ++to;
      }
      painter.setFont(strong ? bold : option.font);
      const QString part = shown.mid(from, to - from);
      painter.drawText(QRect(x, rect.top(), rect.right() - x + 1, rect.height()),
                       Qt::AlignLeft | Qt::AlignVCenter, part);
      x += painter.fontMetrics().horizontalAdvance(part);
      from = to;
    }
    painter.setFont(option.font);
    return x - rect.left();
  }

  const CommandModel& model_;
};

}  // namespace

CommandPalette::CommandPalette(std::vector<Command> commands, const QStringList& recent,
                               std::function<void(const QString& id)> used, QWidget* parent)
    : QDialog(parent, Qt::Popup),
      used_(std::move(used)),
      model_(new CommandModel(std::move(commands), recent, this)),
      line_(new QLineEdit(this)),
      list_(new QListView(this)),
      note_(new QLabel(this)) {
  setObjectName(QStringLiteral("command_palette"));
  setWindowTitle(tr("Commands"));
  line_->setPlaceholderText(tr("Write what you want; > commands, : planners, # devices, @ groups"));
  line_->setAccessibleName(tr("Command"));
  line_->installEventFilter(this);
  list_->setModel(model_);
  list_->setItemDelegate(new CommandDelegate(*model_, list_));
  list_->setUniformItemSizes(true);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  QPalette muted = note_->palette();
  muted.setColor(QPalette::WindowText, style::muted_text(palette()));
  note_->setPalette(muted);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2 * style::kGrid, 2 * style::kGrid, 2 * style::kGrid,
                             2 * style::kGrid);
  layout->setSpacing(2 * style::kGrid);
  layout->addWidget(line_);
  layout->addWidget(list_, 1);
  layout->addWidget(note_);
  connect(line_, &QLineEdit::textChanged, this, [this](const QString& query) {
    model_->set_query(query);
    refresh();
  });
  connect(list_, &QListView::clicked, this, &CommandPalette::run_current);
  place();
  refresh();
  line_->setFocus();
}

void CommandPalette::place() {
  const QWidget* window = parentWidget() ? parentWidget()->window() : nullptr;
  if (!window) return resize(kWidth, kHeight);
  const QSize size(std::min(kWidth, window->width() - 8 * style::kGrid),
                   std::min(kHeight, window->height() - 24 * style::kGrid));
  resize(size);
  move(window->mapToGlobal(
      QPoint((window->width() - size.width()) / 2, std::min(60, window->height() / 10))));
}

int CommandPalette::current_row() const {
  return list_->currentIndex().isValid() ? list_->currentIndex().row() : -1;
}

void CommandPalette::refresh() {
  list_->setCurrentIndex(model_->index(0, 0));
  list_->scrollToTop();
  const std::size_t shown = static_cast<std::size_t>(model_->rowCount());
  note_->setText(shown == 0 ? tr("Nothing is called that; Esc closes")
                 : model_->found() > shown
                     ? tr("%1 of %2 shown: write another letter").arg(shown).arg(model_->found())
                     : tr("Enter runs, Up and Down choose, Esc closes"));
}

void CommandPalette::choose_by(int rows) {
  const int count = model_->rowCount();
  if (count == 0) return;
  int row = current_row() + rows;
  if (std::abs(rows) == 1) row = (row + count) % count;
  list_->setCurrentIndex(model_->index(std::clamp(row, 0, count - 1), 0));
}

void CommandPalette::run_current() {
  const int row = current_row();
  if (row < 0) return;
  const Command command = model_->command(row);
  if (!command.enabled) {
    note_->setText(tr("Not now: %1")
                       .arg(command.why_disabled.isEmpty()
                                ? tr("this does not apply to what is shown")
                                : command.why_disabled));
    return;
  }
  if (used_) used_(command.id);
  // After this popup is gone: what runs may open another window or take the focus.
  QTimer::singleShot(0, parentWidget(), [run = command.run] { run(); });
  accept();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched != line_ || event->type() != QEvent::KeyPress) {
    return QDialog::eventFilter(watched, event);
  }
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down:
      choose_by(1);
      return true;
    case Qt::Key_Up:
      choose_by(-1);
      return true;
    case Qt::Key_PageDown:
      choose_by(kPageRows);
      return true;
    case Qt::Key_PageUp:
      choose_by(-kPageRows);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      run_current();
      return true;
    default:
      return QDialog::eventFilter(watched, event);
  }
}

}  // namespace strato
