#include "views/graph/graph_bar.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "views/style/own_escape.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kLongestName = 48;  // letters of a level in the path

QString shortened(const QString& name, int most) {
  if (name.size() <= most) return name.toHtmlEscaped();
  return (QStringLiteral("…") + name.right(most)).toHtmlEscaped();
}

}  // namespace

GraphBar::GraphBar(QWidget* parent) : QWidget(parent) {
  path_ = new QLabel(this);
  path_->setTextFormat(Qt::RichText);
  path_->setToolTip(tr("Backspace goes up"));
  path_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  connect(path_, &QLabel::linkActivated, this,
          [this](const QString& depth) { emit level_wanted(depth.toInt()); });
  hint_ = new QLabel(this);
  hint_->setEnabled(false);
  hint_->setTextFormat(Qt::PlainText);
  hint_->hide();
  hint_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  found_ = new QLabel(this);
  found_->hide();
  error_ = new QLabel(this);
  error_->setTextFormat(Qt::PlainText);
  error_->setWordWrap(true);
  error_->setContentsMargins(8, 0, 8, 4);
  error_->hide();
  make_find();
  make_overlays();
  stop_ = button(tr("Simple layout"), tr("Stop Graphviz and show a simple layout at once"));
  stop_->hide();
  connect(stop_, &QToolButton::clicked, this, &GraphBar::stop_wanted);
  auto* fit =
      button(tr("Fit"), tr("Show the whole graph (Home); Ctrl+wheel or W/S zooms, drag pans"));
  connect(fit, &QToolButton::clicked, this, &GraphBar::fit_wanted);
  auto* more = button(tr("Actions"), tr("Trace, equal blocks, critical path, other groups"));
  menu_ = new QMenu(more);
  more->setAccessibleName(tr("Graph"));
  more->setMenu(menu_);
  more->setPopupMode(QToolButton::InstantPopup);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(8, 2, 8, 2);
  row->setSpacing(8);
  row->addWidget(path_, 3);
  row->addWidget(hint_, 2);
  row->addWidget(stop_);
  row->addWidget(found_);
  row->addWidget(find_, 2);
  row->addWidget(overlays_);
  row->addWidget(more);
  row->addWidget(fit);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(error_);
}

void GraphBar::make_find() {
  find_ = new QLineEdit(this);
  find_->setPlaceholderText(tr("Find: conv, or bytes > 4MB and …"));
  find_->setClearButtonEnabled(true);
  find_->setMinimumWidth(120);
  find_->setMaximumWidth(360);
  find_->setAccessibleName(tr("Find in the graph"));
  find_->setToolTip(
      tr("<p>A word finds it in names and types. Or conditions, with <b>and</b>, <b>or</b>, "
         "<b>not</b> and parentheses:</p><p>type == \"Conv\" and bytes &gt; 4MB<br>"
         "name ~ \"layer1*conv\" and not phase == backward<br>time &gt; 1ms or flops &gt; 2G<br>"
         "device == v100:0, group ~ \"layer\", mode == PS, parameters &gt; 1MB</p>"
         "<p>Enter selects the groups, and again goes from one to the next.</p>"));
  find_->installEventFilter(this);
  connect(find_, &QLineEdit::textChanged, this, &GraphBar::query_changed);
  connect(find_, &QLineEdit::returnPressed, this, &GraphBar::query_entered);
}

void GraphBar::make_overlays() {
  overlays_ = new QComboBox(this);
  overlays_->setAccessibleName(tr("Colours of the graph"));
  overlays_->setToolTip(tr("What the colours mean (O, Shift+O)"));
  overlays_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  overlays_->setMinimumContentsLength(13);
  overlays_->view()->setTextElideMode(Qt::ElideNone);
  for (const Overlay overlay : kOverlays) {
    overlays_->addItem(label_of(overlay));
    overlays_->setItemData(overlays_->count() - 1, meaning_of(overlay), Qt::ToolTipRole);
  }
  connect(overlays_, &QComboBox::activated, this,
          [this](int index) { emit overlay_chosen(kOverlays[static_cast<std::size_t>(index)]); });
}

QToolButton* GraphBar::button(const QString& text, const QString& tip) {
  auto* result = new QToolButton(this);
  result->setText(text);
  result->setToolTip(tip);
  result->setAutoRaise(true);
  return result;
}

void GraphBar::set_path(const QStringList& names, const QString& count) {
  names_ = names;
  count_ = count;
  refresh_path();
}

// The inner levels matter most: outer names get shorter first, then give way to a mark.
void GraphBar::refresh_path() {
  QFont strong = font();
  strong.setBold(true);
  const int letter = QFontMetrics(strong).averageCharWidth() + 1;
  const int letters = path_->width() / std::max(1, letter);
  const qsizetype last = names_.size() - 1;
  int room = letters - static_cast<int>(count_.size()) - 8;
  QStringList parts;
  for (qsizetype i = last; i >= 0; --i) {
    const int most = std::clamp(room, 8, kLongestName);
    const int taken = std::min<int>(static_cast<int>(names_[i].size()), most) + 3;
    if (i < last && room < 8 && i > 0) {
      parts.prepend(QStringLiteral("<a href=\"%1\">…</a>").arg(i));
      break;
    }
    const QString name = shortened(names_[i], most);
    parts.prepend(i == last ? QStringLiteral("<b>%1</b>").arg(name)
                            : QStringLiteral("<a href=\"%1\">%2</a>").arg(i).arg(name));
    room -= taken;
  }
  const QString path = parts.join(QStringLiteral(" › "));
  path_->setText(count_.isEmpty() ? path : path + QStringLiteral(" · ") + count_.toHtmlEscaped());
}

void GraphBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  refresh_path();
}

// Escape in the field is about the field, not the window's.
bool GraphBar::eventFilter(QObject* watched, QEvent* event) {
  if (watched == find_ && is_own_escape(*event)) event->accept();
  return QWidget::eventFilter(watched, event);
}

void GraphBar::set_hint(const QString& text) {
  hint_->setText(text);
  hint_->setToolTip(text);
  hint_->setVisible(!text.isEmpty());  // the field takes its room
}

void GraphBar::set_found(const QString& text) {
  found_->setText(text);
  found_->setVisible(!text.isEmpty());
}

void GraphBar::set_query_error(const QString& text) {
  error_->setText(text);
  error_->setVisible(!text.isEmpty());
}

void GraphBar::show_stop(bool shown) { stop_->setVisible(shown); }

void GraphBar::focus_find() {
  find_->setFocus(Qt::ShortcutFocusReason);
  find_->selectAll();
}

bool GraphBar::finds() const { return find_->hasFocus(); }
void GraphBar::clear_find() { find_->clear(); }
QString GraphBar::query() const { return find_->text(); }

void GraphBar::set_overlay(Overlay overlay) {
  overlays_->setCurrentIndex(
      static_cast<int>(std::ranges::find(kOverlays, overlay) - kOverlays.begin()));
}

}  // namespace strato
