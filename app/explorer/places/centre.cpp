#include "app/explorer/places/centre.h"

#include <QBoxLayout>
#include <QJsonArray>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QStyle>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <algorithm>

#include "app/explorer/places/place_switch.h"
#include "app/explorer/places/share_splitter.h"
#include "app/explorer/places/view_page.h"
#include "views/style/stacking.h"
#include "views/style/style.h"

namespace strato {
namespace {

QString key_of(Place place) { return QString::fromUtf8(info(place).key); }

double share_from(const QJsonValue& value, double otherwise) {
  const double share = value.toDouble(otherwise);
  return share > 0 && share < 1 ? share : otherwise;
}

}  // namespace

Centre::Centre(QWidget* timeline, std::vector<NamedView> views, QWidget* parent)
    : QWidget(parent),
      views_(std::move(views)),
      timeline_(timeline),
      switch_(new PlaceSwitch),
      tabs_(new QTabBar),
      stack_(new QStackedWidget),
      side_(new QTabWidget),
      bar_(new QWidget),
      bar_row_(new QBoxLayout(QBoxLayout::LeftToRight, bar_)),
      rows_(new ShareSplitter(Qt::Vertical)),
      columns_(new ShareSplitter(Qt::Horizontal)) {
  tabs_->setDocumentMode(true);
  tabs_->setExpanding(false);
  tabs_->setDrawBase(false);
  side_->setDocumentMode(true);
  auto* close = new QToolButton;
  close->setIcon(style()->standardIcon(QStyle::SP_TitleBarCloseButton));
  close->setAutoRaise(true);
  close->setToolTip(tr("Back into its place"));
  side_->setCornerWidget(close);
  for (const NamedView& view : views_) {
    auto* page = new ViewPage(view.widget);
    page->setAccessibleName(view.name);
    stack_->addWidget(page);
  }
  columns_->addWidget(stack_);
  columns_->addWidget(side_);
  rows_->addWidget(columns_);
  rows_->addWidget(timeline_);
  bar_row_->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, 0);
  bar_row_->setSpacing(4 * style::kGrid);
  bar_row_->addWidget(switch_, 0, Qt::AlignLeft | Qt::AlignVCenter);
  bar_row_->addWidget(tabs_, 1, Qt::AlignBottom);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(bar_);
  column->addWidget(rows_, 1);
  connect(switch_, &PlaceSwitch::chosen, this, &Centre::go_to);
  connect(tabs_, &QTabBar::currentChanged, this, &Centre::show_tab);
  connect(close, &QToolButton::clicked, this,
          [this] { put_beside(static_cast<ViewPage*>(side_->currentWidget())->view(), false); });
  state() = usual(place_);
  fill();
}

const NamedView* Centre::find(const QWidget* view) const {
  const auto found = std::find_if(views_.begin(), views_.end(),
                                  [&](const NamedView& known) { return known.widget == view; });
  return found == views_.end() ? nullptr : &*found;
}

void Centre::go_to(Place place) {
  if (place != place_) enter(place);
  emit chosen(place);
  if (QWidget* view = front_view()) view->setFocus();
}

void Centre::enter(Place place) {
  emit leaving(place_);
  state() = now();
  place_ = place;
  if (!state()) state() = usual(place);
  fill();
  emit entered(place);
}

Centre::State Centre::usual(Place place) const {
  const PlaceInfo& its = info(place);
  State state{{}, {}, its.views_share, its.first_share};
  const int letter = fontMetrics().averageCharWidth();
  const bool has_room = window()->width() > 165 * letter && width() > 100 * letter;  // for two
  if (*its.beside != '\0' && has_room) state.beside << QString::fromUtf8(its.beside);
  return state;
}

Centre::State Centre::now() const {
  State state{{}, {}, rows_->share(), columns_->share()};
  if (tabs_->currentIndex() >= 0) state.tab = tabs_->tabData(tabs_->currentIndex()).toString();
  for (int i = 0; i < side_->count(); ++i)
    state.beside << find(static_cast<ViewPage*>(side_->widget(i))->view())->file;
  return state;
}

// Shows what the state of the place says.
void Centre::fill() {
  const State& wanted = *state();
  int current = 0;
  {
    const QSignalBlocker quiet(tabs_);
    while (tabs_->count() > 0) tabs_->removeTab(0);
    int number = 0;
    for (const NamedView& view : views_) {
      const bool beside = wanted.beside.contains(view.file);
      if (beside != is_beside(view.widget)) move_page(view, beside);
      if (view.place != place_) continue;
      ++number;
      if (beside) continue;
      const int tab = tabs_->addTab(view.name);
      tabs_->setTabData(tab, view.file);
      tabs_->setTabToolTip(tab, QKeySequence(Qt::ALT | static_cast<Qt::Key>(Qt::Key_0 + number))
                                    .toString(QKeySequence::NativeText));
      if (view.file == wanted.tab) current = tab;
    }
    tabs_->setCurrentIndex(current);
  }
  show_tab(tabs_->currentIndex());
  switch_->show_place(place_);
  for (const auto& [place, corner] : corners_) corner->setVisible(place == place_);
  stack_->setVisible(tabs_->count() > 0);
  side_->setVisible(side_->count() > 0);
  columns_->set_share(wanted.columns);
  rows_->set_share(wanted.rows);
  fit_bar();
}

void Centre::move_page(const NamedView& view, bool beside) {
  ViewPage* page = ViewPage::of(view.widget);
  if (beside) {
    stack_->removeWidget(page);
    side_->setCurrentIndex(side_->addTab(page, view.name));
  } else {
    side_->removeTab(side_->indexOf(page));
    stack_->addWidget(page);
  }
  emit moved(view.widget, beside);
}

void Centre::show_tab(int tab) {
  const QString file = tab >= 0 ? tabs_->tabData(tab).toString() : QString();
  for (const NamedView& view : views_)
    if (view.file == file) stack_->setCurrentWidget(ViewPage::of(view.widget));
}

void Centre::show_view(QWidget* view) {
  const NamedView* known = find(view);
  if (!known) return;
  if (!is_beside(view) && known->place != place_) enter(known->place);
  if (is_beside(view)) return side_->setCurrentWidget(ViewPage::of(view));
  for (int tab = 0; tab < tabs_->count(); ++tab)
    if (tabs_->tabData(tab).toString() == known->file) tabs_->setCurrentIndex(tab);
}

QWidget* Centre::front_view() const {
  const auto* page =
      static_cast<ViewPage*>(tabs_->count() > 0 ? stack_->currentWidget() : side_->currentWidget());
  return page ? page->view() : nullptr;
}

QWidget* Centre::current_view() const {
  const QWidget* focus = window()->focusWidget();
  if (focus && timeline_->isAncestorOf(focus)) return timeline_;
  if (focus && side_->isAncestorOf(focus))
    return static_cast<ViewPage*>(side_->currentWidget())->view();
  return front_view();
}

bool Centre::is_beside(QWidget* view) const { return side_->indexOf(ViewPage::of(view)) >= 0; }

void Centre::put_beside(QWidget* view, bool beside) {
  const NamedView* known = find(view);
  if (!known || is_beside(view) == beside) return;
  state() = now();
  if (beside) {
    state()->beside << known->file;
  } else {
    state()->beside.removeAll(known->file);
  }
  fill();
}

void Centre::usual_layout() {
  state() = usual(place_);
  fill();
}

void Centre::add_corner(Place place, QWidget* corner) {
  bar_row_->addWidget(corner, 0, Qt::AlignRight | Qt::AlignVCenter);
  corners_.emplace_back(place, corner);
  corner->setVisible(place == place_);
}

void Centre::show_parts(bool views, bool timeline) {
  columns_->setVisible(views);
  timeline_->setVisible(timeline);
}

// The tabs stand below the places where they have no room beside them.
void Centre::fit_bar() {
  const QMargins margins = bar_row_->contentsMargins();
  int needed = margins.left() + margins.right();
  for (int i = 0; i < bar_row_->count(); ++i)
    if (const QWidget* part = bar_row_->itemAt(i)->widget(); part && !part->isHidden())
      needed += part->sizeHint().width() + bar_row_->spacing();
  if (!stack(*bar_row_, width() < needed)) return;
  bar_row_->setSpacing(bar_row_->direction() == QBoxLayout::LeftToRight ? 4 * style::kGrid
                                                                        : style::kGrid / 2);
}

void Centre::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit_bar();
}

QJsonObject Centre::layout() const {
  QJsonObject places;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const auto place = static_cast<Place>(i);
    if (!states_[i]) continue;
    const State its = place == place_ ? now() : *states_[i];
    places[key_of(place)] =
        QJsonObject{{QStringLiteral("tab"), its.tab},
                    {QStringLiteral("beside"), QJsonArray::fromStringList(its.beside)},
                    {QStringLiteral("rows"), its.rows},
                    {QStringLiteral("columns"), its.columns}};
  }
  return {{QStringLiteral("place"), key_of(place_)}, {QStringLiteral("places"), places}};
}

void Centre::restore(const QJsonObject& layout) {
  const QJsonObject known = layout[QStringLiteral("places")].toObject();
  const QString shown = layout[QStringLiteral("place")].toString();
  Place next = place_;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const auto place = static_cast<Place>(i);
    if (key_of(place) == shown) next = place;
    const QJsonObject its = known[key_of(place)].toObject();
    if (its.isEmpty()) continue;
    State state = usual(place);
    state.tab = its[QStringLiteral("tab")].toString();
    state.beside = its[QStringLiteral("beside")].toVariant().toStringList();
    state.rows = share_from(its[QStringLiteral("rows")], state.rows);
    state.columns = share_from(its[QStringLiteral("columns")], state.columns);
    states_[i] = state;
  }
  place_ = next;
  if (!state()) state() = usual(place_);
  fill();
  emit entered(place_);
}

}  // namespace strato
