#include "views/search/search_tree_delegate.h"

#include <QApplication>
#include <QPainter>

#include "core/search/tree/search_tree.h"
#include "views/models/strategy_edits.h"
#include "views/style/marks.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kPatch = 7;         // px: width of a device group's patch
constexpr int kMostPatches = 12;  // clusters with more device groups show words only

}  // namespace

SearchTreeDelegate::SearchTreeDelegate(const SearchTreeModel& model, QObject* parent)
    : QStyledItemDelegate(parent), model_(model) {}

QSize SearchTreeDelegate::sizeHint(const QStyleOptionViewItem& option,
                                   const QModelIndex& index) const {
  return {QStyledItemDelegate::sizeHint(option, index).width(),
          option.fontMetrics.height() + style::kGrid + 2};
}

void SearchTreeDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                               const QModelIndex& index) const {
  const int marks = index.data(SearchTreeModel::MarkRole).toInt();
  if ((marks & SearchTreeModel::OnPath) && !(option.state & QStyle::State_Selected)) {
    QColor tint = style::selection(style::is_dark(option.palette));
    tint.setAlphaF(marks & SearchTreeModel::New ? 0.42f : 0.16f);
    painter->fillRect(option.rect, tint);
  }
  if (index.column() == SearchTreeModel::Action) {
    paint_decision(*painter, option, index);
  } else {
    QStyledItemDelegate::paint(painter, option, index);
  }
}

void SearchTreeDelegate::paint_decision(QPainter& painter, const QStyleOptionViewItem& option,
                                        const QModelIndex& index) const {
  QStyleOptionViewItem item = option;
  initStyleOption(&item, index);
  const QString words = item.text;
  item.text.clear();
  const QWidget* widget = option.widget;
  (widget ? widget->style() : QApplication::style())
      ->drawControl(QStyle::CE_ItemViewItem, &item, &painter, widget);
  const std::int32_t vertex = index.data(SearchTreeModel::VertexRole).toInt();
  const SearchTree::Vertex& v = model_.tree()->vertices[static_cast<std::size_t>(vertex)];
  const int marks = index.data(SearchTreeModel::MarkRole).toInt();
  painter.save();
  QRect room = option.rect.adjusted(2, 0, -style::kGrid, 0);
  room.setLeft(paint_marks(painter, item, marks, v.weight, room));
  const auto action = static_cast<std::size_t>(v.action);
  if (model_.problem() && action < model_.tree()->actions.size()) {
    room.setLeft(paint_devices(painter, item, model_.tree()->actions[action], room));
  }
  const bool selected = item.state & QStyle::State_Selected;
  const bool muted = index.data(SearchTreeModel::MutedRole).toBool();
  painter.setFont(item.font);
  painter.setPen(selected ? item.palette.color(QPalette::HighlightedText)
                 : muted  ? style::muted_text(item.palette)
                          : item.palette.color(QPalette::Text));
  painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                   QFontMetrics(item.font).elidedText(words, Qt::ElideRight, room.width()));
  painter.restore();
}

// Returns where the marks end.
int SearchTreeDelegate::paint_marks(QPainter& painter, const QStyleOptionViewItem& option,
                                    int marks, float weight, QRect room) const {
  const bool selected = option.state & QStyle::State_Selected;
  const QColor text = option.palette.color(selected ? QPalette::HighlightedText : QPalette::Text);
  int left = room.left();
  if (marks & SearchTreeModel::Pinned) {
    style::draw_pin(painter, QRectF(left, room.center().y() - 6, 12, 13), text);
    left += 15;
  }
  if (marks & SearchTreeModel::Focus) {
    painter.setPen(text);
    painter.drawText(QRect(left, room.top(), 14, room.height()), Qt::AlignCenter,
                     QStringLiteral("⤷"));
    left += 16;
  }
  QString badge;
  if (marks & SearchTreeModel::Boosted) badge = QStringLiteral("×%1").arg(weight);
  if (marks & SearchTreeModel::New) badge = SearchTreeModel::tr("new");
  if (marks & SearchTreeModel::Parts) badge = SearchTreeModel::tr("part here");
  if (!badge.isEmpty()) {
    QFont font = option.font;
    font.setStrikeOut(false);
    font.setBold(true);
    const int width = QFontMetrics(font).horizontalAdvance(badge) + 8;
    const QRectF box(left, room.center().y() - 7, width, 15);
    const QColor fill = style::selection(style::is_dark(option.palette));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    painter.drawRoundedRect(box, 3, 3);
    painter.setFont(font);
    painter.setPen(style::text_on(fill));
    painter.drawText(box, Qt::AlignCenter, badge);
    painter.setRenderHint(QPainter::Antialiasing, false);
    left += width + style::kGrid;
  }
  return left;
}

// Filled as far as the group's devices are used; an outline where none is.
int SearchTreeDelegate::paint_devices(QPainter& painter, const QStyleOptionViewItem& option,
                                      const Decision& decision, QRect room) const {
  const Cluster& cluster = *model_.problem()->cluster;
  const int groups = static_cast<int>(cluster.groups().size());
  if (groups < 2 || groups > kMostPatches) return room.left();
  const bool dark = style::is_dark(option.palette);
  const int height = 11, top = room.center().y() - height / 2;
  QColor faint = option.palette.color(QPalette::Text);
  faint.setAlphaF(0.14f);
  int left = room.left();
  for (int g = 0; g < groups; ++g, left += kPatch + 1) {
    const DeviceGroupId group(static_cast<std::size_t>(g));
    const DeviceGroupShare share = share_on(decision, cluster, group);
    const QRect patch(left, top, kPatch, height);
    painter.fillRect(patch, faint);
    if (share.devices == 0) continue;
    const int filled = std::max(3, height * share.devices / std::max(1, share.of));
    painter.fillRect(patch.adjusted(0, height - filled, 0, 0),
                     style::device_group_colour(cluster, group, dark));
  }
  return left + style::kGrid + 1;
}

}  // namespace strato
