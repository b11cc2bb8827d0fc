#include "views/workspace/workspace_lines.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QBuffer>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include "views/models/workspace_model.h"
#include "views/style/style.h"
#include "views/workspace/strategy_pictures.h"

namespace strato {
namespace {

constexpr QSize kGlance(24, 10), kTip(240, 64);
constexpr int kChipSide = style::kGrid;  // between a chip's text and its end, and between chips

struct Chip {
  QString text;
  int width = 0;
};

QFont chip_font(const QFont& font) {
  QFont small = font;
  if (font.pointSizeF() > 0) small.setPointSizeF(font.pointSizeF() * 0.85);
  return small;
}

// As many of the tags as fit; what is left out is counted, and where there is hardly any room, all
// are.
std::vector<Chip> chips_for(const QStringList& tags, const QFontMetrics& metrics, int room) {
  std::vector<Chip> chips;
  int used = 0;
  if (room < 10 * kChipSide) {
    const QString count = QString::number(tags.size());
    return {{count, metrics.horizontalAdvance(count) + 2 * kChipSide}};
  }
  for (qsizetype i = 0; i < tags.size(); ++i) {
    QString text = metrics.elidedText(tags[i], Qt::ElideRight, std::max(room - 2 * kChipSide, 0));
    int width = metrics.horizontalAdvance(text) + 2 * kChipSide;
    if (i > 0 && used + width > room) {
      text = QStringLiteral("+%1").arg(tags.size() - i);
      chips.push_back({text, metrics.horizontalAdvance(text) + 2 * kChipSide});
      return chips;
    }
    chips.push_back({text, width});
    used += width + kChipSide;
  }
  return chips;
}

int width_of(const std::vector<Chip>& chips) {
  int width = 0;
  for (const Chip& chip : chips) width += chip.width + kChipSide;
  return width;
}

void draw_chips(QPainter& painter, const std::vector<Chip>& chips, const QRect& row,
                const QColor& colour, const QFont& font) {
  int right = row.right() - kChipSide;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(font);
  painter.setPen(colour);
  const int height = QFontMetrics(font).height() + 1;
  for (auto chip = chips.rbegin(); chip != chips.rend(); ++chip) {
    const QRectF box(right - chip->width + 0.5, row.center().y() - height / 2 + 0.5,
                     chip->width - 1, height);
    painter.drawRoundedRect(box, 3, 3);
    painter.drawText(box, Qt::AlignCenter, chip->text);
    right -= chip->width + kChipSide;
  }
  painter.restore();
}

}  // namespace

WorkspaceLines::WorkspaceLines(StrategyPictures& pictures, QObject* parent)
    : QStyledItemDelegate(parent), pictures_(pictures) {}

void WorkspaceLines::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  const auto strategy = index.data(WorkspaceModel::PictureRole).toLongLong();
  if (index.column() != WorkspaceModel::Name || strategy == 0) return;
  const double ratio = option->widget ? option->widget->devicePixelRatioF() : 1;
  const QImage image =
      pictures_.picture(strategy, kGlance * ratio, style::is_dark(option->palette));
  option->features |= QStyleOptionViewItem::HasDecoration;
  option->decorationSize = kGlance;  // kept free while it is drawn
  if (image.isNull()) return;
  QPixmap pixmap = QPixmap::fromImage(image);
  pixmap.setDevicePixelRatio(ratio);
  option->icon = QIcon(pixmap);
  option->icon.addPixmap(pixmap, QIcon::Selected);
}

void WorkspaceLines::paint(QPainter* painter, const QStyleOptionViewItem& option,
                           const QModelIndex& index) const {
  const QStringList tags = index.data(WorkspaceModel::TagsRole).toStringList();
  if (index.column() != WorkspaceModel::Name || tags.isEmpty()) {
    QStyledItemDelegate::paint(painter, option, index);
    return;
  }
  QStyleOptionViewItem item(option);
  initStyleOption(&item, index);
  const QFont font = chip_font(item.font);
  const QStyle& look = *QApplication::style();
  const QRect place = look.subElementRect(QStyle::SE_ItemViewItemText, &item, item.widget);
  const int name = item.fontMetrics.horizontalAdvance(item.text) + 3 * style::kGrid;
  const auto chips =
      chips_for(tags, QFontMetrics(font), std::max(place.width() - name, place.width() / 5));
  const int left = place.width() - width_of(chips) - 2 * style::kGrid;
  item.text = item.fontMetrics.elidedText(item.text, item.textElideMode, std::max(left, 0));
  look.drawControl(QStyle::CE_ItemViewItem, &item, painter, item.widget);
  const bool chosen = item.state.testFlag(QStyle::State_Selected);
  draw_chips(
      *painter, chips, item.rect,
      chosen ? item.palette.color(QPalette::HighlightedText) : style::muted_text(item.palette),
      font);
}

QString WorkspaceLines::tip_html(const QModelIndex& index, bool dark) const {
  const QModelIndex name = index.siblingAtColumn(WorkspaceModel::Name);
  QString text = name.data(Qt::ToolTipRole).toString();
  const QStringList tags = name.data(WorkspaceModel::TagsRole).toStringList();
  const QString note = name.data(WorkspaceModel::NoteRole).toString();
  if (!tags.isEmpty()) text += QLatin1Char('\n') + tr("Tags: %1").arg(tags.join(QLatin1Char(' ')));
  if (!note.isEmpty()) text += QLatin1Char('\n') + note;
  if (text.isEmpty()) return {};
  QString html =
      QStringLiteral("<p>") +
      text.left(2000).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")) +
      QStringLiteral("</p>");
  const QImage image =
      pictures_.picture(name.data(WorkspaceModel::PictureRole).toLongLong(), kTip, dark);
  if (image.isNull()) return html;
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return QStringLiteral("<img src=\"data:image/png;base64,%1\">")
             .arg(QString::fromLatin1(bytes.toBase64())) +
         html;
}

bool WorkspaceLines::helpEvent(QHelpEvent* event, QAbstractItemView* view,
                               const QStyleOptionViewItem& option, const QModelIndex& index) {
  if (event->type() != QEvent::ToolTip || !index.isValid())
    return QStyledItemDelegate::helpEvent(event, view, option, index);
  QToolTip::showText(event->globalPos(), tip_html(index, style::is_dark(view->palette())), view,
                     view->visualRect(index));
  return true;
}

}  // namespace strato
