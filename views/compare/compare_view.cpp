#include "views/compare/compare_view.h"

#include <QAbstractItemView>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <functional>

#include "views/compare/change_delegate.h"
#include "views/compare/change_table.h"
#include "views/compare/plans_page.h"
#include "views/compare/waterfall.h"
#include "views/style/file_choice.h"
#include "views/style/list_table.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

// What can be chosen is looked up when the list is opened.
class ChoiceBox : public QComboBox {
 public:
  ChoiceBox(std::function<void()> fill, QWidget* parent)
      : QComboBox(parent), fill_(std::move(fill)) {}
  void showPopup() override {
    fill_();
    QComboBox::showPopup();
  }

 private:
  std::function<void()> fill_;
};

QLabel* make_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  return label;
}

void add_section(QComboBox& box, const QString& name) {
  box.addItem(name);
  auto* items = qobject_cast<QStandardItemModel*>(box.model());
  QStandardItem* item = items->item(box.count() - 1);
  item->setFlags(Qt::NoItemFlags);
  QFont font = item->font();
  font.setBold(true);
  item->setFont(font);
}

}  // namespace

CompareView::CompareView(Session& session, SecondPlan& second, QWidget* parent)
    : QWidget(parent),
      session_(session),
      second_(&second),
      model_(session, second),
      sentence_(make_label(this)),
      figures_(make_label(this)),
      notes_(make_label(this)),
      links_(make_label(this)),
      working_(new QProgressBar(this)),
      waterfall_(new Waterfall),
      pages_(new QTabWidget(this)) {
  QFont font = sentence_->font();
  font.setWeight(QFont::DemiBold);
  sentence_->setFont(font);
  working_->setRange(0, 0);
  working_->setTextVisible(false);
  working_->setMaximumHeight(style::kGrid / 2);
  QSizePolicy policy = working_->sizePolicy();
  policy.setRetainSizeWhenHidden(true);  // nothing jumps
  working_->setSizePolicy(policy);
  pages_->setDocumentMode(true);
  auto* area = new QScrollArea;
  area->setWidget(waterfall_);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  pages_->addTab(area, tr("Step time"));
  groups_ = build_page(tr("Groups"), tr("Op groups of both plans"));
  variables_ = build_page(tr("Variables"), tr("Variables that are synchronised otherwise"));
  devices_ = build_page(tr("Devices"), tr("Memory and time of devices in both plans"));
  traffic_ = build_page(tr("Traffic"), tr("What both plans send"));
  plans_ = new PlansPage(session, second);
  pages_->addTab(plans_, tr("Plans"));
  links_->setContentsMargins(3 * style::kGrid, style::kGrid, 3 * style::kGrid, style::kGrid);
  pages_->widget(traffic_.index)->layout()->addWidget(links_);
  auto* top = new QVBoxLayout;
  top->setContentsMargins(3 * style::kGrid, 2 * style::kGrid, 3 * style::kGrid, style::kGrid);
  top->setSpacing(style::kGrid);
  top->addWidget(build_choice());
  for (QLabel* label : {sentence_, figures_, notes_}) top->addWidget(label);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(top);
  column->addWidget(working_);
  column->addWidget(pages_, 1);
  connect(&model_, &ComparisonModel::changed, this, &CompareView::refresh);
  connect(&second, &SecondPlan::changed, this, &CompareView::refresh);
  connect(&session_.selection(), &Selection::changed, this, &CompareView::show_selection);
  connect(all_, &QCheckBox::toggled, this, [this](bool all) {
    for (const Page* page : {&groups_, &variables_}) page->filter->show_all(all);
    plans_->show_all(all);
    show_selection();
  });
  connect(&plans_->plans(), &PlanSet::changed, this, &CompareView::fill_targets);
  connect(&plans_->plans(), &PlanSet::changed, this, &CompareView::refresh_report);
  connect(pages_, &QTabWidget::currentChanged, this, &CompareView::refresh_report);
  connect(plans_, &PlansPage::file_wanted, this, &CompareView::add_file);
  connect(plans_, &PlansPage::pair_chosen, this, &CompareView::choose_pair);
  fill_choices();
  fill_targets();
  refresh();
}

QWidget* CompareView::build_choice() {
  auto* bar = new QWidget(this);
  choices_ = new ChoiceBox([this] { fill_choices(); }, bar);
  choices_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  choices_->setMinimumContentsLength(12);
  choices_->setToolTip(tr("The plan that the one shown is compared with"));
  auto* label = new QLabel(tr("&Compared with"), bar);
  label->setBuddy(choices_);
  targets_ = new QComboBox(bar);
  targets_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  targets_->setMinimumContentsLength(10);
  targets_->setToolTip(tr("The second plan of the comparison: the one shown, or one of Plans"));
  targets_label_ = new QLabel(tr("&to"), bar);
  targets_label_->setBuddy(targets_);
  auto* file = new QPushButton(tr("&Plan File…"), bar);
  file->setToolTip(tr("A plan of this or another cluster or model"));
  auto* graphs = new QPushButton(tr("Two Graphs"), bar);
  graphs->setToolTip(tr("The graphs of both plans side by side"));
  graphs->setObjectName(QStringLiteral("two-graphs"));
  report_ = new QPushButton(tr("Save Rep&ort…"), bar);
  all_ = new QCheckBox(tr("Show what is a&like, too"), pages_);
  pages_->setCornerWidget(all_);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(2 * style::kGrid);
  row->addWidget(label);
  row->addWidget(choices_, 1);
  row->addWidget(targets_label_);
  row->addWidget(targets_, 1);
  row->addWidget(file);
  row->addWidget(graphs);
  row->addWidget(report_);
  connect(choices_, &QComboBox::activated, this, &CompareView::take_choice);
  connect(targets_, &QComboBox::activated, this, &CompareView::take_target);
  connect(file, &QPushButton::clicked, this, &CompareView::choose_file);
  connect(graphs, &QPushButton::clicked, this, &CompareView::graphs_wanted);
  connect(report_, &QPushButton::clicked, this, &CompareView::save_report);
  return bar;
}

CompareView::Page CompareView::build_page(const QString& name, const QString& accessible_name) {
  Page page;
  auto* widget = new QWidget;
  page.table = new ChangeTable(widget);
  page.filter = new ChangeFilter(widget);
  page.filter->setSourceModel(page.table);
  page.view = new QTableView(widget);
  page.view->setModel(page.filter);
  style::as_list(*page.view);
  page.view->setItemDelegate(new ChangeDelegate(page.view));
  page.view->setAccessibleName(accessible_name);
  page.view->setSortingEnabled(true);
  page.view->sortByColumn(-1, Qt::DescendingOrder);
  page.view->setTextElideMode(Qt::ElideMiddle);
  page.view->horizontalHeader()->setTextElideMode(Qt::ElideMiddle);
  auto* column = new QVBoxLayout(widget);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(page.view, 1);
  page.index = pages_->addTab(widget, name);
  connect(page.view->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this, page](const QModelIndex& index) { select_row(page, index); });
  connect(page.view, &QTableView::clicked, this,
          [this, page](const QModelIndex& index) { select_row(page, index); });
  return page;
}

QString CompareView::sentence() const { return sentence_->text(); }

void CompareView::choose_file() {
  const QString file =
      style::file_to_open(this, tr("Compare with a plan"), tr("Plans (*.json);;All files (*)"));
  if (!file.isEmpty() && second_)
    second_->choose({SecondChoice::What::File, 0, std::filesystem::path(file.toStdString())});
}

void CompareView::add_file() {
  const QString file =
      style::file_to_open(this, tr("Add a plan"), tr("Plans (*.json);;All files (*)"));
  if (!file.isEmpty())
    plans_->plans().add({SecondChoice::What::File, 0, std::filesystem::path(file.toStdString())});
}

void CompareView::choose_pair(const std::optional<SecondChoice>& from,
                              const std::optional<SecondChoice>& to) {
  if (!second_ || !from) return;
  model_.set_to(to ? plans_->plans().find(*to) : nullptr);
  second_->choose(*from);
  fill_targets();
  pages_->setCurrentIndex(0);
}

void CompareView::save_report() {
  const QString file = style::file_to_write(
      this, tr("Save the comparison"), session_.model_name() + QStringLiteral(".comparison.html"),
      tr("Pages (*.html)"));
  if (file.isEmpty()) return;
  const std::filesystem::path path(file.toStdString());
  shows_plans() ? plans_->plans().save_report(path) : model_.save_report(path);
}

void CompareView::fill_choices() {
  if (!second_) return;
  listed_ = second_->choice();
  listed_name_ = second_->plan() ? second_->plan()->label : QString();
  const QSignalBlocker blocker(choices_);
  choices_->clear();
  QString section;
  bool found = false;
  for (const SecondPlan::Offer& offer : second_->offers()) {
    if (offer.section != section) add_section(*choices_, section = offer.section);
    choices_->addItem(offer.text, QVariant::fromValue(offer.choice));
    if (!offer.choice.file.empty())
      choices_->setItemData(choices_->count() - 1, text(offer.choice.file.string()),
                            Qt::ToolTipRole);
    if (offer.choice != second_->choice()) continue;
    choices_->setCurrentIndex(choices_->count() - 1);
    found = true;
  }
  if (found) return;
  // Of rows that are no longer offered, or of what was chosen elsewhere.
  choices_->addItem(listed_name_.isEmpty() ? tr("Another plan") : listed_name_,
                    QVariant::fromValue(second_->choice()));
  choices_->setCurrentIndex(choices_->count() - 1);
}

void CompareView::take_choice(int index) {
  const QVariant choice = choices_->itemData(index);
  if (choice.isValid() && second_) second_->choose(choice.value<SecondChoice>());
}

// What the comparison goes to: only where there are plans to choose from.
void CompareView::fill_targets() {
  if (targets_->view()->isVisible()) return;  // one is being chosen
  const QSignalBlocker blocker(targets_);
  targets_->clear();
  targets_->addItem(tr("the plan shown"));
  for (const auto& member : plans_->plans().members()) {
    targets_->addItem(member->plan() ? member->plan()->label : tr("Another plan"),
                      QVariant::fromValue(member->choice()));
    if (member.get() == model_.to()) targets_->setCurrentIndex(targets_->count() - 1);
  }
  const bool several = targets_->count() > 1;
  targets_->setVisible(several);
  targets_label_->setVisible(several);
}

void CompareView::take_target(int index) {
  const QVariant choice = targets_->itemData(index);
  model_.set_to(choice.isValid() ? plans_->plans().find(choice.value<SecondChoice>()) : nullptr);
}

void CompareView::refresh() {
  if (!second_) return;
  const QString name = second_->plan() ? second_->plan()->label : QString();
  const bool listed = second_->choice() == listed_ && name == listed_name_;
  if (!listed && !choices_->view()->isVisible()) fill_choices();
  working_->setVisible(model_.busy() || second_->busy());
  if (shown_ != model_.shown()) {
    shown_ = model_.shown();
    const PlanComparison none;
    show_tables(shown_ ? shown_->comparison : none);
    waterfall_->show_comparison(shown_ ? &shown_->comparison : nullptr);
    show_selection();
  }
  pages_->setVisible(session_.snapshot().problem != nullptr);
  all_->setVisible(shown_ != nullptr);
  refresh_report();
  refresh_sentence();
  refresh_notes();
}

bool CompareView::shows_plans() const { return pages_->currentWidget() == plans_; }

void CompareView::refresh_report() {
  report_->setEnabled(shows_plans() ? plans_->plans().shown() != nullptr : shown_ != nullptr);
  report_->setToolTip(
      shows_plans() ? tr("All these plans as a page with pictures, for people without the tool")
                    : tr("The comparison as a page with pictures, for people without the tool"));
}

void CompareView::refresh_sentence() {
  QPalette colours = palette();
  QString words;
  if (shown_) {
    words = text(shown_->comparison.sentence);
    figures_->setText(figures_text(shown_->comparison));
  } else if (!session_.snapshot().problem) {
    words = tr("Open a model: then the plan that is shown is compared with another one.");
  } else if (second_->problem().isEmpty()) {
    words = tr("Comparing…");
  } else {
    words = tr("Choose a plan to compare with.");
  }
  sentence_->setText(words);
  figures_->setVisible(shown_ != nullptr);
  colours.setColor(QPalette::WindowText, style::muted_text(palette()));
  figures_->setPalette(colours);
}

void CompareView::refresh_notes() {
  QPalette colours = palette();
  QStringList lines;
  if (!second_->problem().isEmpty()) {
    lines << second_->problem();
    colours.setColor(QPalette::WindowText, style::infeasible(style::is_dark(palette())));
  } else {
    colours.setColor(QPalette::WindowText, style::muted_text(palette()));
    if (shown_ && !shown_->comparison.match.same_graph)
      lines << tr("Another model: %1.").arg(text(text_of(shown_->comparison.match)));
    if (shown_ && !shown_->comparison.same_cluster)
      lines << tr("Another cluster: %1, then %2.")
                   .arg(text(shown_->comparison.plans.from.cluster),
                        text(shown_->comparison.plans.to.cluster));
    if (const auto& plan = second_->plan(); plan && !plan->remarks.isEmpty()) {
      QString line = plan->remarks.first();
      if (plan->remarks.size() > 1) line += tr(" (and %1 more)").arg(plan->remarks.size() - 1);
      lines << line;
      notes_->setToolTip(plan->remarks.mid(0, 20).join(QLatin1Char('\n')));
    } else {
      notes_->setToolTip({});
    }
    if (shown_)
      for (const std::string& other : shown_->comparison.others) lines << text(other);
  }
  notes_->setPalette(colours);
  notes_->setText(lines.join(QLatin1Char('\n')));
  notes_->setVisible(!lines.isEmpty());
}

QString CompareView::figures_text(const PlanComparison& comparison) const {
  const PlanFigures &from = comparison.plans.from, &to = comparison.plans.to;
  QString figures = tr("Step %1 → %2 · %3 → %4 samples/s")
                        .arg(style::time(from.step_time), style::time(to.step_time),
                             style::significant(from.samples_per_second()),
                             style::significant(to.samples_per_second()));
  const QString price = price_text_of(comparison);
  return price.isEmpty() ? figures : figures + QStringLiteral(" · ") + price;
}

QString CompareView::price_text_of(const PlanComparison& comparison) const {
  const auto million = [](const std::optional<PlanPrice>& price) {
    return price ? text(price_text(price->per_million_samples)) : QStringLiteral("–");
  };
  const auto& price = comparison.price;
  if (!price.from && !price.to) return {};
  return tr("%1 → %2 a million samples").arg(million(price.from), million(price.to));
}

void CompareView::show_tables(const PlanComparison& comparison) {
  groups_.table->show(group_rows(comparison));
  variables_.table->show(variable_rows(comparison));
  devices_.table->show(device_rows(comparison));
  traffic_.table->show(traffic_rows(comparison));
  pages_->setTabText(groups_.index, tr("Groups (%1)").arg(groups_.table->differing()));
  pages_->setTabText(variables_.index, tr("Variables (%1)").arg(variables_.table->differing()));
  QStringList lines;
  const auto busiest = [](double busy, const std::string& name) {
    return name.empty() ? tr("unused")
                        : QStringLiteral("%1 %2").arg(text(name), style::percent(busy));
  };
  for (const LinksChange& row : comparison.links)
    lines << tr("Busiest link %1: %2 → %3")
                 .arg(text(row.kind), busiest(row.busiest.from, row.which.from),
                      busiest(row.busiest.to, row.which.to));
  const auto add_price = [&](const PlanFigures& plan, const std::optional<PlanPrice>& price) {
    if (price)
      lines << tr("%1: %2 an hour (%3 for the machines it uses), %4 a step, %5 a million samples")
                   .arg(text(plan.label), text(price_text(price->per_hour)),
                        text(price_text(price->used_per_hour)), text(price_text(price->per_step)),
                        text(price_text(price->per_million_samples)));
  };
  add_price(comparison.plans.from, comparison.price.from);
  add_price(comparison.plans.to, comparison.price.to);
  links_->setText(lines.join(QLatin1Char('\n')));
  fit_columns();
}

void CompareView::select_row(const Page& page, const QModelIndex& index) {
  if (selecting_ || !index.isValid() || !model_.has_ids_of_session()) return;
  const ChangeRow& row = page.table->at(page.filter->mapToSource(index).row());
  selecting_ = true;
  Selection& selection = session_.selection();
  if (row.group.valid()) {
    selection.select_group(row.group);
  } else if (row.op.valid()) {
    selection.select_op(row.op, session_.snapshot().problem->grouping->group_of(row.op));
  } else if (row.device.valid()) {
    selection.select_device(row.device);
  }
  selecting_ = false;
}

// The group that is selected elsewhere is the current row here.
void CompareView::show_selection() {
  if (selecting_ || !model_.has_ids_of_session()) return;
  selecting_ = true;
  const std::vector<GroupId>& groups = session_.selection().groups();
  QItemSelectionModel& selection = *groups_.view->selectionModel();
  selection.clear();
  for (int row = 0; groups.size() == 1 && row < groups_.table->rowCount(); ++row) {
    if (groups_.table->at(row).group != groups.front()) continue;
    const QModelIndex index = groups_.filter->mapFromSource(groups_.table->index(row, 0));
    if (!index.isValid()) break;
    selection.setCurrentIndex(index,
                              QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    groups_.view->scrollTo(index);
    break;
  }
  selecting_ = false;
}

// Words share what figures leave.
void CompareView::fit_columns() {
  for (const Page* page : {&groups_, &variables_, &devices_, &traffic_}) {
    QHeaderView* header = page->view->horizontalHeader();
    const int columns = page->filter->columnCount();
    const int names = page == &groups_ || page == &variables_ ? 3 : page == &traffic_ ? 2 : 1;
    for (int column = 0; column < columns; ++column)
      header->setSectionResizeMode(
          column, column < names ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
  }
}

void CompareView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  model_.set_active(true);
}

void CompareView::hideEvent(QHideEvent* event) {
  model_.set_active(false);
  QWidget::hideEvent(event);
}

}  // namespace strato
