#include "views/placement/placement_header.h"

#include <QPainter>

#include "views/models/placement_model.h"
#include "views/style/fitting_name.h"
#include "views/style/style.h"

namespace strato {

PlacementHeader::PlacementHeader(Session& session, QWidget* parent)
    : QHeaderView(Qt::Horizontal, parent), session_(session) {
  setSectionsClickable(true);
  setHighlightSections(false);
  setSortIndicatorShown(true);
}

QSize PlacementHeader::sizeHint() const {
  return {QHeaderView::sizeHint().width(), 2 * fontMetrics().height() + 4 * style::kGrid};
}

void PlacementHeader::paintSection(QPainter* painter, const QRect& rect, int section) const {
  painter->save();
  painter->fillRect(rect, palette().color(QPalette::Window));
  const auto data = [&](int role) { return model()->headerData(section, Qt::Horizontal, role); };
  const QVariant group = data(PlacementModel::DeviceGroupRole);
  const auto& problem = session_.snapshot().problem;
  int align = data(Qt::TextAlignmentRole).isValid() ? data(Qt::TextAlignmentRole).toInt()
                                                    : int(Qt::AlignHCenter);
  align = (align & Qt::AlignHorizontal_Mask) | Qt::AlignVCenter;
  if (group.isValid() && problem &&
      static_cast<std::size_t>(group.toInt()) < problem->cluster->groups().size()) {
    const QColor colour = style::device_group_colour(
        *problem->cluster, DeviceGroupId(static_cast<std::size_t>(group.toInt())),
        style::is_dark(palette()));
    painter->fillRect(QRect(rect.left() + 2, rect.bottom() - 3, rect.width() - 4, 3), colour);
  }
  const int margin = group.isValid() ? 2 : 2 * style::kGrid;
  const QRect inner = rect.adjusted(margin, style::kGrid, -margin, -style::kGrid);
  const int half = inner.height() / 2;
  QString name = data(Qt::DisplayRole).toString();
  if (isSortIndicatorShown() && sortIndicatorSection() == section) {
    name +=
        sortIndicatorOrder() == Qt::AscendingOrder ? QStringLiteral(" ↑") : QStringLiteral(" ↓");
  }
  QFont bold = font();
  bold.setWeight(QFont::DemiBold);
  painter->setFont(bold);
  painter->setPen(palette().color(QPalette::WindowText));
  painter->drawText(QRect(inner.left(), inner.top(), inner.width(), half), align,
                    style::elided(name, QFontMetricsF(bold), Qt::ElideMiddle, inner.width()));
  painter->setFont(font());
  painter->setPen(style::muted_text(palette()));
  painter->drawText(QRect(inner.left(), inner.top() + half, inner.width(), half), align,
                    data(PlacementModel::SummaryRole).toString());
  painter->restore();
}

}  // namespace strato
