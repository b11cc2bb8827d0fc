#include "views/drag/move_dialog.h"

#include <QCheckBox>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

#include "views/style/style.h"

namespace strato {
namespace {
constexpr int kRoom = 380;  // px, of a line
}  // namespace

MoveDialog::MoveDialog(Session& session, QWidget* parent)
    : QDialog(parent),
      session_(session),
      problem_(session.snapshot().problem),
      groups_{session.selection().groups(), {}},
      ops_(problem_ ? carried_selection(session.selection(), *problem_) : Carried()),
      filter_(new QLineEdit(this)),
      list_(new QListWidget(this)),
      title_(new QLabel(this)),
      whole_groups_(new QCheckBox(this)),
      effect_(new QLabel(this)),
      preview_(session) {
  setWindowTitle(tr("Move Selection to Device"));
  setAttribute(Qt::WA_DeleteOnClose);
  setModal(true);
  filter_->setPlaceholderText(tr("Device, device group or machine"));
  filter_->setAccessibleName(tr("Filter devices"));
  filter_->installEventFilter(this);
  list_->setAccessibleName(tr("Devices"));
  list_->setUniformItemSizes(true);
  effect_->setTextFormat(Qt::PlainText);
  effect_->setWordWrap(true);
  effect_->setMinimumHeight(2 * fontMetrics().lineSpacing());
  auto* column = new QVBoxLayout(this);
  title_->setTextFormat(Qt::PlainText);
  column->addWidget(title_);
  column->addWidget(whole_groups_);
  whole_groups_->setVisible(ops_ != groups_);
  if (problem_) {
    all_ = all_places(*problem_->cluster);
    whole_groups_->setText(fontMetrics().elidedText(
        tr("The whole of %1").arg(names_of(groups_, *problem_)), Qt::ElideMiddle, kRoom));
  }
  column->addWidget(filter_);
  column->addWidget(list_, 1);
  column->addWidget(effect_);
  resize(420, 360);
  connect(filter_, &QLineEdit::textChanged, this, &MoveDialog::show_matching);
  connect(filter_, &QLineEdit::returnPressed, this, &MoveDialog::drop);
  connect(list_, &QListWidget::currentRowChanged, this, &MoveDialog::ask);
  connect(list_, &QListWidget::itemActivated, this, &MoveDialog::drop);
  connect(whole_groups_, &QCheckBox::toggled, this, &MoveDialog::ask);
  connect(&preview_, &EditPreview::changed, this, [this] {
    place() && !preview_.asks() ? ask() : tell();  // it forgets what another state was asked about
  });
  connect(&session_, &Session::problem_changed, this, [this] {
    if (session_.snapshot().problem != problem_) close();
  });
  show_matching({});
}

void MoveDialog::show_matching(const QString& words) {
  const QSignalBlocker quiet(list_);
  list_->clear();
  for (std::size_t p = 0; p < all_.size(); ++p) {
    if (!all_[p].name.contains(words.trimmed(), Qt::CaseInsensitive)) continue;
    const bool one = all_[p].devices.size() == 1;
    auto* item = new QListWidgetItem(
        one ? all_[p].name : tr("%1 (%2 devices)").arg(all_[p].name).arg(all_[p].devices.size()),
        list_);
    item->setData(Qt::UserRole, static_cast<int>(p));
  }
  list_->setCurrentRow(0);
  ask();
}

Carried MoveDialog::carried() const { return whole_groups_->isChecked() ? groups_ : ops_; }

const DropPlace* MoveDialog::place() const {
  const QListWidgetItem* item = list_->currentItem();
  if (!item || session_.snapshot().problem != problem_) return nullptr;
  return &all_[static_cast<std::size_t>(item->data(Qt::UserRole).toInt())];
}

void MoveDialog::ask() {
  if (problem_)
    title_->setText(fontMetrics().elidedText(
        tr("%1 on these devices alone:").arg(names_of(carried(), *problem_)), Qt::ElideMiddle,
        kRoom));
  if (const DropPlace* chosen = place())
    preview_.ask(onto(carried(), chosen->devices));
  else
    preview_.forget();
  tell();
}

void MoveDialog::tell() {
  const auto& effect = preview_.effect();
  const bool bad = (effect && !effect->feasible) || !preview_.error().isEmpty();
  const QColor ink =
      bad ? style::infeasible(style::is_dark(palette())) : palette().color(QPalette::WindowText);
  QPalette colours = palette();
  colours.setColor(QPalette::WindowText, ink);
  effect_->setPalette(colours);
  const QString words = preview_.text();
  effect_->setText(list_->count() == 0          ? tr("No device is called so")
                   : preview_.changes_nothing() ? tr("As it is")
                                                : words);
}

void MoveDialog::drop() {
  const DropPlace* chosen = place();
  if (!chosen) return;
  const DropPlace where = *chosen;
  const Carried what = carried();
  close();
  drop_on(session_, what, where);
}

// Arrows go through the list while one types.
bool MoveDialog::eventFilter(QObject* watched, QEvent* event) {
  if (watched == filter_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
    const int to = list_->currentRow() + step;
    if (step != 0 && to >= 0 && to < list_->count()) list_->setCurrentRow(to);
    if (step != 0) return true;
  }
  return QDialog::eventFilter(watched, event);
}

bool move_selection(Session& session, QWidget& over) {
  if (!session.snapshot().problem || session.selection().groups().empty()) return false;
  auto* dialog = new MoveDialog(session, &over);
  dialog->show();
  return true;
}

}  // namespace strato
