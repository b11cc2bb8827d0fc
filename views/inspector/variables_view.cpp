#include "views/inspector/variables_view.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "views/inspector/facts.h"
#include "views/inspector/sync_form.h"
#include "views/style/giving_area.h"
#include "views/style/list_table.h"
#include "views/style/row_ranges.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kRowsUpright = 6;

// What is not as its group says is thick.
class VariableDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (!index.data(VariableModel::ByHandRole).toBool()) {
      const bool words = index.column() >= VariableModel::Synchronised;
      if (words && !option->state.testFlag(QStyle::State_Selected))
        option->palette.setColor(QPalette::Text, style::muted_text(option->palette));
    } else {
      option->font.setWeight(QFont::DemiBold);
    }
  }
};

}  // namespace

VariablesView::VariablesView(Session& session, Shape shape, QWidget* parent)
    : QWidget(parent),
      session_(session),
      shape_(shape),
      model_(new VariableModel(session, this)),
      sorted_(new QSortFilterProxyModel(this)),
      table_(new QTableView(this)),
      filter_(new QLineEdit(this)),
      note_(make_note(this)),
      form_(new SyncForm(session, shape == Shape::Upright, this)) {
  const bool wide = shape == Shape::Wide;
  build_table(wide);
  if (wide) {
    lay_out_wide();
  } else {
    lay_out_upright();
  }
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &VariablesView::take_rows);
  connect(model_, &QAbstractItemModel::modelReset, this, &VariablesView::keep_rows);
  connect(model_, &QAbstractItemModel::dataChanged, this, &VariablesView::refresh_note);
  connect(filter_, &QLineEdit::textChanged, sorted_, &QSortFilterProxyModel::setFilterFixedString);
  refresh_note();
}

// A field of the form that loses the focus with the view would edit, and the view would hear of it.
VariablesView::~VariablesView() { delete form_; }

void VariablesView::build_table(bool wide) {
  sorted_->setSourceModel(model_);
  sorted_->setSortRole(VariableModel::SortRole);
  sorted_->setFilterKeyColumn(-1);
  sorted_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  table_->setModel(sorted_);
  style::as_list(*table_);
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  table_->setSortingEnabled(true);
  table_->sortByColumn(VariableModel::Size, Qt::DescendingOrder);
  table_->setItemDelegate(new VariableDelegate(table_));
  table_->setAccessibleName(tr("Variables"));
  QHeaderView* header = table_->horizontalHeader();
  header->setMinimumSectionSize(40);
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  table_->setColumnWidth(VariableModel::Name, (wide ? 26 : 14) * digit);
  table_->setColumnWidth(VariableModel::Group, 20 * digit);
  table_->setColumnWidth(VariableModel::ShapeOf, 18 * digit);
  table_->setColumnWidth(VariableModel::Size, 9 * digit);
  table_->setColumnWidth(VariableModel::Synchronised, 36 * digit);
  table_->setColumnWidth(VariableModel::EncodedAs, 14 * digit);
  header->setSectionResizeMode(VariableModel::Synchronised, QHeaderView::Stretch);
  if (wide) return;
  for (const int column : {VariableModel::Group, VariableModel::ShapeOf, VariableModel::Size,
                           VariableModel::EncodedAs})
    table_->setColumnHidden(column, true);
  table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

// What tells least goes first, so that the words are read without scrolling.
void VariablesView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (shape_ == Shape::Upright) return;
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  const int room = (width() - form_area_->sizeHint().width()) / std::max(1, digit);
  table_->setColumnHidden(VariableModel::Group, room < 120);
  table_->setColumnHidden(VariableModel::EncodedAs, room < 100);
  table_->setColumnHidden(VariableModel::ShapeOf, room < 80);
  table_->setColumnWidth(VariableModel::Name, (room < 80 ? 20 : 26) * digit);
}

void VariablesView::lay_out_wide() {
  filter_->setPlaceholderText(tr("Filter by name, group or synchroniser"));
  filter_->setClearButtonEnabled(true);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  bar->setSpacing(3 * style::kGrid);
  bar->addWidget(filter_, 2);
  bar->addWidget(note_, 3);
  auto* left = new QVBoxLayout;
  left->setSpacing(0);
  left->addLayout(bar);
  left->addWidget(table_, 1);
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(3 * style::kGrid, 2 * style::kGrid, 3 * style::kGrid,
                             2 * style::kGrid);
  column->addWidget(make_heading(tr("The variables selected"), page));
  column->addWidget(form_);
  column->addStretch();
  form_area_ = new style::GivingArea(page, style::GivingArea::Scrolls::UpAndDown, this);
  // In sight however far the form is scrolled.
  auto* right = new QVBoxLayout;
  right->setSpacing(0);
  right->addWidget(form_area_, 1);
  right->addWidget(&form_->messages());
  form_->messages().setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  form_->messages().layout()->setContentsMargins(3 * style::kGrid, 0, 3 * style::kGrid,
                                                 style::kGrid);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addLayout(left, 1);
  row->addLayout(right);
}

void VariablesView::lay_out_upright() {
  filter_->hide();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(style::kGrid);
  column->addWidget(note_);
  column->addWidget(table_, 1);
  column->addWidget(form_);
}

void VariablesView::take_rows() {
  chosen_.clear();
  chosen_of_ = graph();
  for (const QModelIndex& index : table_->selectionModel()->selectedRows())
    chosen_.push_back(model_->update_at(sorted_->mapToSource(index).row()));
  form_->show_variables(chosen_);
}

std::shared_ptr<const Graph> VariablesView::graph() const {
  const std::shared_ptr<const Problem> problem = session_.snapshot().problem;
  return problem ? problem->graph : nullptr;
}

void VariablesView::keep_rows() {
  if (chosen_of_ != graph()) chosen_.clear();  // another model has other variables by these ids
  std::vector<int> rows;
  for (const OpId update : chosen_) {
    const QModelIndex index = sorted_->mapFromSource(model_->index(model_->row_of(update), 0));
    if (index.isValid()) rows.push_back(index.row());
  }
  table_->selectionModel()->select(row_ranges(std::move(rows), *sorted_),
                                   QItemSelectionModel::ClearAndSelect);
  take_rows();
  refresh_note();
}

void VariablesView::refresh_note() {
  const int all = model_->rowCount(), by_hand = model_->by_hand();
  if (shape_ == Shape::Upright)  // as high as its rows, up to some
    table_->setFixedHeight(table_->horizontalHeader()->sizeHint().height() + style::kGrid +
                           std::clamp(all, 1, kRowsUpright) *
                               table_->verticalHeader()->defaultSectionSize());
  const bool selected = !session_.selection().groups().empty();
  QString text =
      !session_.snapshot().problem ? tr("Open a model and a cluster to see its variables.")
      : all == 0
          ? (selected ? tr("No variable is updated here.")
                      : tr("A model without training has no variables to update."))
          : tr("%1 variables%2, %3")
                .arg(all)
                .arg(selected && shape_ == Shape::Wide ? tr(" of the groups selected") : QString())
                .arg(by_hand == 0 ? tr("all as their groups")
                                  : tr("%1 with entries of their own").arg(by_hand));
  note_->setText(text);
}

}  // namespace strato
