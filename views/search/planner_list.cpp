#include "views/search/planner_list.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QCoreApplication>
#include <QPainter>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <algorithm>
#include <utility>

#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr Effort kKinds[] = {Effort::Portfolio, Effort::Search, Effort::Learning,
                             Effort::Quick,     Effort::Slow,   Effort::Given};
constexpr int kSummary = Qt::UserRole;
constexpr int kWidth = 96;  // of the list, in digits

struct PlannerListWords {
  Q_DECLARE_TR_FUNCTIONS(PlannerList)
};

QString heading_of(Effort kind) {
  switch (kind) {
    case Effort::Quick:
      return PlannerListWords::tr("One answer, at once");
    case Effort::Slow:
      return PlannerListWords::tr("One answer, some time later");
    case Effort::Search:
      return PlannerListWords::tr("Searches: better with time");
    case Effort::Learning:
      return PlannerListWords::tr("Searches that train a network");
    case Effort::Portfolio:
      return PlannerListWords::tr("All planners together");
    case Effort::Given:
      return PlannerListWords::tr("From a file");
  }
  return {};
}

// A name, and beside it in muted letters what the planner does.
class PlannerDelegate final : public QStyledItemDelegate {
 public:
  PlannerDelegate(int name_width, QObject* parent)
      : QStyledItemDelegate(parent), name_width_(name_width) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    const QString summary = index.data(kSummary).toString();
    if (summary.isEmpty()) return;
    const QRect rest = option.rect.adjusted(name_width_, 0, -2 * style::kGrid, 0);
    painter->save();
    painter->setPen(option.state & QStyle::State_Selected
                        ? option.palette.color(QPalette::HighlightedText)
                        : style::muted_text(option.palette));
    painter->drawText(rest, Qt::AlignVCenter | Qt::AlignLeft,
                      option.fontMetrics.elidedText(summary, Qt::ElideRight, rest.width()));
    painter->restore();
  }

 private:
  const int name_width_;
};

QStandardItem* heading(const QString& words) {
  auto* item = new QStandardItem(words);
  QFont font = item->font();
  font.setBold(true);
  item->setFont(font);
  item->setFlags(Qt::NoItemFlags);
  return item;
}

}  // namespace

void list_planners(QComboBox& box, const std::vector<PluginInfo>& planners) {
  auto* model = new QStandardItemModel(&box);
  int widest = 0;
  for (const Effort kind : kKinds) {
    bool first = true;
    for (const PluginInfo& planner : planners) {
      if (planner.effort != kind) continue;
      if (std::exchange(first, false)) model->appendRow(heading(heading_of(kind)));
      auto* item = new QStandardItem(text(planner.name));
      item->setData(text(planner.summary), kSummary);
      item->setToolTip(text(planner.summary));
      model->appendRow(item);
      widest = std::max(widest, box.fontMetrics().horizontalAdvance(item->text()));
    }
  }
  box.setModel(model);
  box.setItemDelegate(new PlannerDelegate(widest + 6 * style::kGrid, &box));
  box.view()->setMinimumWidth(kWidth * box.fontMetrics().horizontalAdvance(QLatin1Char('0')));
  box.setMaxVisibleItems(model->rowCount());
}

}  // namespace strato
