#include "views/inspector/group_page.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QEvent>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QRadioButton>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>
#include <set>

#include "views/inspector/facts.h"
#include "views/inspector/role_field.h"
#include "views/inspector/variables_view.h"
#include "views/models/constraint_edits.h"
#include "views/models/edit_preview.h"
#include "views/models/explanation.h"
#include "views/models/strategy_edits.h"
#include "views/style/row_ranges.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

QIcon swatch(const QColor& colour) {
  QPixmap pixmap(24, 24);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  painter.drawRoundedRect(QRectF(3, 3, 18, 18), 5, 5);
  return pixmap;
}

QString help_of(Mode mode) {
  switch (mode) {
    case Mode::ReplicateAllReduce:
      return GroupPage::tr("The batch is split, gradients are summed by AllReduce");
    case Mode::ReplicatePs:
      return GroupPage::tr("The batch is split, gradients are summed at one device per parameter");
    case Mode::Duplicate:
      return GroupPage::tr("Every device computes the whole batch: nothing to synchronise");
    case Mode::ModelParallel:
      return GroupPage::tr("The group's ops are divided over the devices");
  }
  return {};
}

}  // namespace

GroupPage::GroupPage(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      ops_(new OpTableModel(session, this)),
      sorted_ops_(new QSortFilterProxyModel(this)),
      op_table_(new QTableView(this)),
      title_(make_title(this)),
      subtitle_(make_note(this)),
      boxes_(new QWidget(this)),
      modes_(new QButtonGroup(this)),
      preview_(new EditPreview(session, this)),
      roles_{new RoleField(MeshRole::Tensor, session, *preview_, this),
             new RoleField(MeshRole::Expert, session, *preview_, this),
             new RoleField(MeshRole::Context, session, *preview_, this),
             new RoleField(MeshRole::States, session, *preview_, this),
             new RoleField(MeshRole::StateRows, session, *preview_, this)},
      effect_line_(make_note(this)),
      constraints_(make_note(this)),
      variables_heading_(make_heading(tr("Variables"), this)),
      variables_(new VariablesView(session, VariablesView::Shape::Upright, this)),
      facts_(new Facts(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(style::kGrid);
  layout->addWidget(title_);
  layout->addWidget(subtitle_);
  build_editor(layout);
  layout->addWidget(variables_heading_);
  layout->addWidget(variables_);
  layout->addWidget(make_heading(tr("What it costs"), this));
  layout->addWidget(facts_);
  build_ops(layout);
}

void GroupPage::build_editor(QVBoxLayout* layout) {
  layout->addWidget(make_heading(tr("Devices"), this));
  new QGridLayout(boxes_);
  boxes_->layout()->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(boxes_);
  for (RoleField* role : roles_)  // not next to what is previewed, which their lists would hide
    layout->addWidget(role);
  layout->addWidget(make_heading(tr("Mode"), this));
  auto* grid = new QGridLayout;
  grid->setSpacing(style::kGrid);
  for (int mode = 0; mode <= static_cast<int>(Mode::ModelParallel); ++mode) {
    auto* button = new QRadioButton(text(label_of(static_cast<Mode>(mode))), this);
    button->setToolTip(help_of(static_cast<Mode>(mode)));
    modes_->addButton(button, mode);
    preview_choice(button, [this, mode] {
      return with_mode(session_.snapshot().strategy, session_.selection().groups(),
                       static_cast<Mode>(mode));
    });
    grid->addWidget(button, mode / 2, mode % 2);
  }
  layout->addLayout(grid);
  connect(modes_, &QButtonGroup::idClicked, this, &GroupPage::set_mode);
  share_buttons_ = new QWidget(this);
  auto* shares = new QHBoxLayout(share_buttons_);
  shares->setContentsMargins(0, style::kGrid, 0, 0);
  auto* equal = new QPushButton(tr("Equal shares"), share_buttons_);
  auto* speed = new QPushButton(tr("Shares by speed"), share_buttons_);
  speed->setToolTip(tr("Weights in proportion to each device's speed on these ops"));
  shares->addWidget(equal);
  shares->addWidget(speed);
  layout->addWidget(share_buttons_);
  layout->addWidget(effect_line_);
  layout->addWidget(constraints_);
  connect(preview_, &EditPreview::changed, this,
          [this] { effect_line_->setText(preview_->text()); });
  preview_choice(equal, [this] {
    return with_equal_shares(session_.snapshot().strategy, session_.selection().groups());
  });
  preview_choice(speed, [this] {
    return with_proportional_shares(session_.snapshot().strategy, session_.selection().groups(),
                                    *session_.snapshot().problem);
  });
  connect(equal, &QPushButton::clicked, this, [this] { set_shares(false); });
  connect(speed, &QPushButton::clicked, this, [this] { set_shares(true); });
}

void GroupPage::build_ops(QVBoxLayout* layout) {
  ops_heading_ = make_heading(tr("Ops"), this);
  layout->addWidget(ops_heading_);
  sorted_ops_->setSourceModel(ops_);
  sorted_ops_->setSortRole(OpTableModel::SortRole);
  op_table_->setModel(sorted_ops_);
  op_table_->setSortingEnabled(true);
  op_table_->sortByColumn(OpTableModel::Time, Qt::DescendingOrder);
  op_table_->verticalHeader()->hide();
  op_table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + style::kGrid);
  op_table_->setShowGrid(false);
  op_table_->setFrameShape(QFrame::NoFrame);
  op_table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  op_table_->setDragDropMode(QAbstractItemView::DragOnly);
  op_table_->setMinimumHeight(9 * fontMetrics().height());
  op_table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
  op_table_->horizontalHeader()->setHighlightSections(false);
  op_table_->horizontalHeader()->setMinimumSectionSize(40);
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  op_table_->setColumnHidden(OpTableModel::PhaseOfOp, true);
  op_table_->setColumnHidden(OpTableModel::Flops, true);
  op_table_->horizontalHeader()->setSectionResizeMode(OpTableModel::Name, QHeaderView::Stretch);
  op_table_->setColumnWidth(OpTableModel::Type, 11 * digit);
  op_table_->setColumnWidth(OpTableModel::Time, 9 * digit);
  op_table_->setTextElideMode(Qt::ElideLeft);  // names differ at their ends
  layout->addWidget(op_table_, 1);
  connect(op_table_, &QTableView::clicked, this, [this] {
    const std::vector<GroupId> groups = session_.selection().groups();
    if (groups.size() != 1) return;
    std::vector<OpId> ops;
    for (const QModelIndex& row : op_table_->selectionModel()->selectedRows())
      ops.emplace_back(row.data(OpTableModel::OpRole).toUInt());
    session_.selection().select_ops(std::move(ops), groups);
  });
}

void GroupPage::rebuild_boxes() {
  const Cluster* cluster = session_.snapshot().problem->cluster.get();
  if (cluster == boxes_of_) return;
  boxes_of_ = cluster;
  for (const QCheckBox* box : box_of_) edits_.erase(box);
  qDeleteAll(box_of_);
  box_of_.clear();
  auto* grid = static_cast<QGridLayout*>(boxes_->layout());
  grid->setSpacing(style::kGrid);
  for (std::size_t g = 0; g < cluster->groups().size(); ++g) {
    const DeviceGroup& group = cluster->groups()[DeviceGroupId(g)];
    auto* box = new QCheckBox(text(group.name), boxes_);
    box->setIcon(
        swatch(style::device_group_colour(*cluster, DeviceGroupId(g), style::is_dark(palette()))));
    box->setToolTip(QStringLiteral("%1 × %2")
                        .arg(group.devices.size())
                        .arg(text(cluster->gpu_types()[group.type].name)));
    connect(box, &QCheckBox::clicked, this, [this, g](bool on) { toggle(DeviceGroupId(g), on); });
    preview_choice(box, [this, g, box] {
      return with_device_group(session_.snapshot().strategy, session_.selection().groups(),
                               *session_.snapshot().problem->cluster, DeviceGroupId(g),
                               box->checkState() == Qt::Unchecked);
    });
    grid->addWidget(box, static_cast<int>(g / 2), static_cast<int>(g % 2));
    box_of_.push_back(box);
  }
}

void GroupPage::refresh() {
  const auto& groups = session_.selection().groups();
  const Snapshot& snapshot = session_.snapshot();
  if (!snapshot.problem || groups.empty()) return;
  const Grouping& grouping = *snapshot.problem->grouping;
  title_->setText(
      names_of(groups, grouping)
          .replace(QStringLiteral(".."), QStringLiteral("..\u200b")));  // may break here
  ops_->show(groups.size() == 1 ? groups[0] : GroupId());
  op_table_->setVisible(groups.size() == 1);
  ops_heading_->setVisible(groups.size() == 1);
  if (groups.size() == 1) show_ops();
  const bool has_variables = variables_->model().rowCount() > 0;
  variables_heading_->setVisible(has_variables);
  variables_->setVisible(has_variables);
  rebuild_boxes();
  show_decision();
  show_constraints();
  show_figures();
}

void GroupPage::show_ops() {
  std::vector<int> rows;
  for (const OpId op : session_.selection().ops()) {
    const QModelIndex row = sorted_ops_->mapFromSource(ops_->index(ops_->row_of(op), 0));
    if (row.isValid()) rows.push_back(row.row());
  }
  op_table_->selectionModel()->select(row_ranges(std::move(rows), *sorted_ops_),
                                      QItemSelectionModel::ClearAndSelect);
  if (session_.selection().ops().size() == 1)
    op_table_->scrollTo(op_table_->selectionModel()->selectedRows().value(0));
}

// What searches keep to, of the groups selected.
void GroupPage::show_constraints() {
  QStringList lines;
  const auto all = constraints_by_group(session_);
  for (const GroupId group : session_.selection().groups()) {
    if (group.index() >= all.size()) continue;
    for (const QString& line : all[group.index()].lines)
      if (!lines.contains(line)) lines << line;
  }
  constraints_->setVisible(!lines.isEmpty());
  constraints_->setText(tr("Searches keep to: ") + lines.join(QStringLiteral("; ")));
}

void GroupPage::preview_choice(QWidget* choice, std::function<Strategy()> edit) {
  edits_[choice] = std::move(edit);
  choice->installEventFilter(this);
}

// What a choice would do, while the cursor or the keyboard rests on it.
bool GroupPage::eventFilter(QObject* watched, QEvent* event) {
  const auto edit = edits_.find(watched);
  if (edit != edits_.end()) {
    const bool on = event->type() == QEvent::Enter || event->type() == QEvent::FocusIn;
    const bool off = event->type() == QEvent::Leave || event->type() == QEvent::FocusOut;
    const bool ready = static_cast<QWidget*>(watched)->isEnabled() && session_.snapshot().problem &&
                       !session_.selection().groups().empty();
    if (on && ready) preview_->ask(edit->second());
    if (off) preview_->forget();
  }
  return QWidget::eventFilter(watched, event);
}

// Of several groups, what all agree on; a box is half checked where they differ.
void GroupPage::show_decision() {
  const auto& groups = session_.selection().groups();
  const Snapshot& snapshot = session_.snapshot();
  const Cluster& cluster = *snapshot.problem->cluster;
  std::set<Mode> modes;
  std::vector<int> users(cluster.groups().size());
  std::set<QString> descriptions;
  for (const GroupId group : groups) {
    const auto& decision = snapshot.strategy.groups[group];
    if (!decision) continue;
    modes.insert(decision->mode);
    descriptions.insert(describe_shares(*decision, cluster));
    for (const DeviceGroupId used : device_groups_of(*decision, cluster)) {
      const DeviceGroupShare share = share_on(*decision, cluster, used);
      users[used.index()] += share.devices == share.of ? 2 : 1;
    }
  }
  for (std::size_t g = 0; g < box_of_.size(); ++g) {
    const bool all = users[g] == 2 * static_cast<int>(groups.size());
    box_of_[g]->setCheckState(users[g] == 0 ? Qt::Unchecked
                              : all         ? Qt::Checked
                                            : Qt::PartiallyChecked);
  }
  modes_->setExclusive(false);
  for (QAbstractButton* button : modes_->buttons()) {
    button->setChecked(modes.size() == 1 && modes_->id(button) == static_cast<int>(*modes.begin()));
  }
  modes_->setExclusive(modes.size() == 1);
  for (RoleField* role : roles_) role->refresh();
  share_buttons_->setEnabled(modes.size() == 1 && splits_batch(*modes.begin()));
  subtitle_->setText(descriptions.size() == 1 ? *descriptions.begin()
                                              : tr("placed in %1 ways").arg(descriptions.size()));
}

void GroupPage::show_figures() {
  const auto& groups = session_.selection().groups();
  const Snapshot& snapshot = session_.snapshot();
  const Problem& problem = *snapshot.problem;
  std::size_t ops = 0, estimated = 0;
  double flops = 0;
  Bytes parameters;
  GroupTimes times;
  for (const GroupId id : groups) {
    const OpGroup& group = problem.grouping->group(id);
    ops += group.ops.size();
    parameters += group.parameter_bytes;
    for (const OpId op : group.ops) {
      flops += problem.graph->op(op).work.flops;
      estimated += problem.graph->op(op).estimated;
    }
    if (!snapshot.outcome) continue;
    const GroupTimes own = group_times(*snapshot.outcome->timeline, *problem.grouping, id);
    times.compute += own.compute;
    times.communication += own.communication;
    times.waiting += own.waiting;
    if (times.tasks == 0 || own.first_start < times.first_start)
      times.first_start = own.first_start;
    times.last_end = std::max(times.last_end, own.last_end);
    times.tasks += own.tasks;
  }
  std::vector<Fact> facts = {
      {tr("Ops"), QString::number(ops), {}},
      {tr("Work"), style::flops(flops), tr("On the whole batch, in one step")},
      {tr("Parameters"), style::bytes(parameters), {}},
  };
  if (estimated) facts.push_back({tr("Estimated ops"), QString::number(estimated), {}});
  if (snapshot.outcome) {
    facts.insert(facts.end(),
                 {{tr("Computing"), style::time(times.compute), tr("Summed over devices")},
                  {tr("Communicating"), style::time(times.communication),
                   tr("Transfers and collectives of its tensors, summed")},
                  {tr("Ready but waiting"), style::time(times.waiting),
                   tr("Its compute tasks waited this long for their device, summed")},
                  {tr("In the step"),
                   QStringLiteral("%1 – %2")
                       .arg(style::time(times.first_start), style::time(times.last_end))
                       .replace(QLatin1Char(' '), QChar::Nbsp),
                   tr("Start of its first task to the end of its last")}});
  }
  facts_->show_facts(facts);
}

void GroupPage::toggle(DeviceGroupId group, bool used) {
  const auto& groups = session_.selection().groups();
  const Snapshot& snapshot = session_.snapshot();
  const Cluster& cluster = *snapshot.problem->cluster;
  const Strategy changed = with_device_group(snapshot.strategy, groups, cluster, group, used);
  if (changed == snapshot.strategy) {
    emit session_.message(tr("An op group needs at least one device"));
    show_decision();
    return;
  }
  session_.edit(changed,
                QStringLiteral("%1: %2 %3")
                    .arg(names_of(groups, *snapshot.problem->grouping),
                         used ? tr("use") : tr("leave"), text(cluster.groups()[group].name)));
}

void GroupPage::set_mode(int mode) {
  const auto& groups = session_.selection().groups();
  const Snapshot& snapshot = session_.snapshot();
  session_.edit(with_mode(snapshot.strategy, groups, static_cast<Mode>(mode)),
                QStringLiteral("%1: %2").arg(names_of(groups, *snapshot.problem->grouping),
                                             text(label_of(static_cast<Mode>(mode)))));
}

void GroupPage::set_shares(bool proportional) {
  const auto& groups = session_.selection().groups();
  const Snapshot& snapshot = session_.snapshot();
  session_.edit(
      proportional ? with_proportional_shares(snapshot.strategy, groups, *snapshot.problem)
                   : with_equal_shares(snapshot.strategy, groups),
      QStringLiteral("%1: %2").arg(names_of(groups, *snapshot.problem->grouping),
                                   proportional ? tr("shares by speed") : tr("equal shares")));
}

}  // namespace strato
