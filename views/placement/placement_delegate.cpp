#include "views/placement/placement_delegate.h"

#include <QComboBox>
#include <QPainter>
#include <QSpinBox>
#include <algorithm>

#include "views/style/fitting_name.h"
#include "views/style/marks.h"
#include "views/style/mixed.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr Mode kModes[] = {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate,
                           Mode::ModelParallel};

QString label(Mode mode) {
  const auto text = label_of(mode);
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace

PlacementDelegate::PlacementDelegate(Session& session, QObject* parent)
    : QStyledItemDelegate(parent), session_(session) {}

void PlacementDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const {
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  const QVariant group = index.data(PlacementModel::DeviceGroupRole);
  if (group.isValid()) {
    paint_share(painter, option, index, DeviceGroupId(static_cast<std::size_t>(group.toInt())));
  } else if (index.column() == PlacementModel::ModeOfGroup) {
    paint_mode(painter, option, index);
  } else if (index.column() == PlacementModel::Time) {
    paint_time(painter, option, index);
  } else {
    QRect rect = option.rect.adjusted(2 * style::kGrid, 0, -2 * style::kGrid, 0);
    const QColor mark = index.data(PlacementModel::ViolatedRole).toBool()
                            ? style::infeasible(style::is_dark(option.palette))
                            : option.palette.color(QPalette::Text);
    if (index.data(PlacementModel::PinnedRole).toBool()) {
      style::draw_pin(*painter, QRectF(rect.left() - 4, rect.center().y() - 6, 11, 12), mark);
      rect.setLeft(rect.left() + 3 * style::kGrid);
    }
    if (index.data(PlacementModel::TogetherRole).toBool()) {
      style::draw_links(*painter, QRectF(rect.left() - 4, rect.center().y() - 5, 14, 11), mark);
      rect.setLeft(rect.left() + 4 * style::kGrid);
    }
    painter->setPen(option.palette.color(QPalette::Text));
    const QString text = style::elided(index.data().toString(), QFontMetricsF(option.fontMetrics),
                                       Qt::ElideMiddle, rect.width());
    painter->drawText(rect, index.data(Qt::TextAlignmentRole).toInt(), text);
  }
  if (option.state & QStyle::State_HasFocus) {
    painter->setPen(QPen(style::selection(style::is_dark(option.palette)), 1.5));
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(QRectF(option.rect).adjusted(1, 1, -1, -1), 3, 3);
  }
  painter->restore();
}

void PlacementDelegate::paint_share(QPainter* painter, const QStyleOptionViewItem& option,
                                    const QModelIndex& index, DeviceGroupId group) const {
  const bool dark = style::is_dark(option.palette);
  const QRectF patch = QRectF(option.rect).adjusted(2, 2, -2, -2);
  const int used = index.data(PlacementModel::UsedRole).toInt();
  const bool forbidden = index.data(PlacementModel::ForbiddenRole).toBool();
  const auto& problem = session_.snapshot().problem;
  if (!problem || group.index() >= problem->cluster->groups().size()) return;
  if (used == 0) {
    QColor empty = option.palette.color(QPalette::Text);
    empty.setAlphaF(option.state & QStyle::State_MouseOver ? 0.14f : 0.04f);
    painter->setPen(Qt::NoPen);
    painter->setBrush(empty);
    painter->drawRoundedRect(patch, 3, 3);
    if (forbidden) {
      const QRectF ring(patch.center() - QPointF(5, 5), QSizeF(10, 10));
      style::draw_no_entry(*painter, ring, style::muted_text(option.palette));
    }
    return;
  }
  const double share = index.data(PlacementModel::ShareRole).toDouble();
  const QColor fill = mixed(option.palette.color(QPalette::Base),
                            style::device_group_colour(*problem->cluster, group, dark),
                            0.35 + 0.65 * std::min(1.0, share * 2));
  painter->setPen(option.state & QStyle::State_MouseOver
                      ? QPen(option.palette.color(QPalette::Text), 1)
                      : QPen(Qt::NoPen));
  painter->setBrush(fill);
  painter->drawRoundedRect(patch, 3, 3);
  painter->setPen(style::text_on(fill));
  const QString text = index.data().toString();
  const bool fits = option.fontMetrics.horizontalAdvance(text) <= patch.width();
  if (forbidden) {  // by hand, against what is demanded
    painter->setPen(QPen(style::infeasible(dark), 2));
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(patch, 3, 3);
    painter->setPen(style::text_on(fill));
  }
  painter->drawText(patch, Qt::AlignCenter,
                    fits ? text : text.section(QStringLiteral(" · "), 0, 0));
}

void PlacementDelegate::paint_time(QPainter* painter, const QStyleOptionViewItem& option,
                                   const QModelIndex& index) const {
  QColor bar = option.palette.color(QPalette::Text);
  bar.setAlphaF(0.12f);
  const QRect rect = option.rect.adjusted(style::kGrid, 4, -style::kGrid, -4);
  // A quarter of all time fills the cell: groups are many, and each is a small part.
  const double part = std::min(1.0, index.data(PlacementModel::TimeShareRole).toDouble() * 4);
  QRectF filled(rect);
  filled.setWidth(part * rect.width());
  painter->setPen(Qt::NoPen);
  painter->setBrush(bar);
  painter->drawRoundedRect(filled, 2, 2);
  painter->setPen(option.palette.color(QPalette::Text));
  painter->drawText(option.rect.adjusted(0, 0, -2 * style::kGrid, 0),
                    Qt::AlignRight | Qt::AlignVCenter, index.data().toString());
}

void PlacementDelegate::paint_mode(QPainter* painter, const QStyleOptionViewItem& option,
                                   const QModelIndex& index) const {
  const QRect rect = option.rect.adjusted(2 * style::kGrid, 0, -2 * style::kGrid, 0);
  painter->setPen(option.palette.color(QPalette::Text));
  painter->drawText(
      rect, Qt::AlignLeft | Qt::AlignVCenter,
      option.fontMetrics.elidedText(index.data().toString(), Qt::ElideRight, rect.width() - 12));
  painter->setPen(QPen(style::muted_text(option.palette), 1.2));
  const QPointF tip(rect.right() - 3, rect.center().y() + 2.5);  // the chevron of a choice
  painter->drawPolyline(QPolygonF({tip + QPointF(-4, -4), tip, tip + QPointF(4, -4)}));
}

QSize PlacementDelegate::sizeHint(const QStyleOptionViewItem& option,
                                  const QModelIndex& index) const {
  const QSize size = QStyledItemDelegate::sizeHint(option, index);
  return {size.width() + 4 * style::kGrid, option.fontMetrics.height() + 2 * style::kGrid};
}

QWidget* PlacementDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem&,
                                         const QModelIndex& index) const {
  if (index.column() == PlacementModel::ModeOfGroup) {
    auto* choice = new QComboBox(parent);
    for (const Mode mode : kModes) choice->addItem(label(mode));
    connect(choice, &QComboBox::activated, this, [this, choice] {
      auto* self = const_cast<PlacementDelegate*>(this);
      emit self->commitData(choice);
      emit self->closeEditor(choice);
    });
    return choice;
  }
  auto* weight = new QSpinBox(parent);
  weight->setRange(1, 1000);
  weight->setToolTip(tr("Part of the batch relative to the other devices"));
  return weight;
}

void PlacementDelegate::setEditorData(QWidget* editor, const QModelIndex& index) const {
  if (auto* choice = qobject_cast<QComboBox*>(editor)) {
    choice->setCurrentIndex(index.data(Qt::EditRole).toInt());
  } else if (auto* weight = qobject_cast<QSpinBox*>(editor)) {
    weight->setValue(std::max(1, index.data(Qt::EditRole).toInt()));
  }
}

void PlacementDelegate::setModelData(QWidget* editor, QAbstractItemModel* model,
                                     const QModelIndex& index) const {
  if (auto* choice = qobject_cast<QComboBox*>(editor)) {
    emit mode_chosen(choice->currentIndex());
  } else if (auto* weight = qobject_cast<QSpinBox*>(editor)) {
    if (weight->value() != index.data(Qt::EditRole).toInt()) {
      model->setData(index, weight->value(), Qt::EditRole);
    }
  }
}

}  // namespace strato
