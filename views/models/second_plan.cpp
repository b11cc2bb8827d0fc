#include "views/models/second_plan.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/plugin/use/import_note.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/lower_bound.h"
#include "core/search/evaluate/outcome.h"
#include "core/strategy/file/named_strategy.h"
#include "core/strategy/file/plan_file.h"
#include "core/strategy/file/rebind.h"
#include "views/models/explanation.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr std::size_t kMostOffers = 60;  // of one section, the latest

std::vector<Nanos> op_times_of(const Problem& problem) {
  return mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
}

// What a plan is for, in parts; those that are the open problem's are shared with it.
struct ForeignProblem {
  const Problem& opened;
  const CostSources& costs;
  QStringList& remarks;

  std::shared_ptr<const Cluster> cluster(Cluster own) const {
    return own.digest() == opened.cluster->digest()
               ? opened.cluster
               : std::make_shared<const Cluster>(std::move(own));
  }

  // In the open problem's groups when it has its graph.
  Problem problem(const ModelSource* model, std::shared_ptr<const Cluster> cluster) const {
    std::vector<std::string> warnings;
    Problem made = opened;
    if (model != nullptr) {
      ProblemOptions options = model->options;
      options.costs = costs;
      made = make_problem(*model->graph, std::move(cluster), options, model->grouping, &warnings);
    } else if (cluster != opened.cluster) {
      made.cluster = std::move(cluster);
      made.cost = make_cost_model(made.graph, made.cluster, costs, &warnings);
    }
    for (const std::string& warning : warnings) remarks << text(warning);
    return made;
  }
};

void note_unmatched(const std::vector<std::string>& unmatched, QStringList& remarks) {
  for (const std::string& line : unmatched) remarks << text(line);
}

template <class Row>
Row require_row(std::optional<Row> row, const std::filesystem::path& file,
                const std::string& what) {
  if (row) return std::move(*row);
  throw InputError(file.string(), what, "is not in the workspace",
                   "it may have been deleted; choose another one");
}

ProblemOptions options_of_plan(const PlanFile& plan) {
  ProblemOptions options;
  options.training = plan.optimizer != "none";
  if (options.training && !plan.optimizer.empty())
    options.optimizer = optimizer_from(plan.optimizer);
  return options;
}

bool simulated_so(const Outcome& outcome, const Simulation& simulation) {
  const SimulateOptions& options = outcome.timeline->options;
  return options.priorities == (simulation.order == TaskOrder::Priority) &&
         options.fair_links == simulation.fair_links;
}

}  // namespace

struct SecondPlan::Job {
  std::uint64_t id = 0;
  SecondChoice choice;
  bool read_again = false;
  std::shared_ptr<const Problem> opened;
  CostSources costs;
  Simulation simulation;
  Nanos lower_bound;  // of `opened`
  std::shared_ptr<const Outcome>
      baseline;  // of data parallelism on `opened`, simulated so; or null
  std::optional<Shown> before;
  std::filesystem::path workspace;
};

SecondPlan::SecondPlan(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::problem_changed, this, &SecondPlan::take_problem);
  connect(&session_, &Session::strategy_changed, this, &SecondPlan::take_strategy);
  connect(&session_, &Session::simulation_changed, this, [this] { refresh(); });
  connect(&session_, &Session::workspace_changed, this, &SecondPlan::take_workspace);
  take_workspace();
  take_problem();
  take_strategy();
}

SecondPlan::~SecondPlan() {
  ++job_;
  worker_.end();
}

void SecondPlan::use(const QObject* user, bool used) {
  if (used) {
    users_.insert(user);
  } else {
    users_.erase(user);
  }
  if (stale_ && !users_.empty()) refresh();
}

void SecondPlan::choose(const SecondChoice& choice) {
  choice_ = choice;
  refresh(true);
}

void SecondPlan::remember_as(const SecondPlan& other) {
  if (other.opened_ != opened_) return;
  shown_ = other.shown_;
  before_ = other.before_;
}

bool SecondPlan::same_graph() const {
  return plan_ && opened_ && plan_->problem->graph == opened_->graph;
}

bool SecondPlan::same_cluster() const {
  return plan_ && opened_ && plan_->problem->cluster == opened_->cluster;
}

void SecondPlan::take_problem() {
  const std::shared_ptr<const Problem> now = session_.snapshot().opened;
  if (now == opened_) return;  // shown in other groups
  const bool both = now && opened_;
  const bool same_kind = both && now->graph == opened_->graph && now->cluster == opened_->cluster;
  if (!same_kind || now->grouping != opened_->grouping) {
    before_.reset();
    shown_.reset();
  }
  if (!same_kind) plan_.reset();
  opened_ = now;
  refresh();
}

void SecondPlan::take_strategy() {
  const Snapshot& snapshot = session_.snapshot();
  if (!snapshot.problem) return;
  const bool same = shown_ && shown_->strategy == snapshot.strategy;
  if (shown_ && !same) before_ = std::move(shown_);
  shown_ = {snapshot.strategy, snapshot.label};
  if (!same && choice_.what == SecondChoice::What::BeforeChange) refresh();
}

// The rows of another workspace mean something else.
void SecondPlan::take_workspace() {
  const WorkspaceLists* workspace = session_.workspace();
  const std::filesystem::path file = workspace ? workspace->file() : std::filesystem::path();
  if (file == workspace_) return;
  workspace_ = file;
  const bool by_row =
      choice_.what == SecondChoice::What::Strategy || choice_.what == SecondChoice::What::Run;
  if (by_row) choose({});
}

void SecondPlan::refresh(bool read_again) {
  ++job_;  // what is under way is about something else
  stale_ = users_.empty();
  const Snapshot& snapshot = session_.snapshot();
  const bool nothing_before = choice_.what == SecondChoice::What::BeforeChange && !before_;
  busy_ = !stale_ && opened_ && !nothing_before;
  if (!opened_ || nothing_before) plan_.reset();
  problem_ = opened_ && nothing_before ? tr("Nothing was changed yet.") : QString();
  if (busy_) {
    Job job{job_,
            choice_,
            read_again,
            opened_,
            snapshot.costs,
            session_.simulation(),
            snapshot.lower_bound,
            nullptr,
            before_,
            workspace_};
    if (snapshot.baseline && simulated_so(*snapshot.baseline, job.simulation))
      job.baseline = snapshot.baseline;
    worker_.post([this, job = std::make_shared<const Job>(std::move(job))] { run(*job); });
  }
  emit changed();
}

// To the GUI thread, unless something newer was asked for by then.
template <class Function>
void SecondPlan::post(const Job& job, Function function) {
  QMetaObject::invokeMethod(
      this,
      [this, id = job.id, function = std::move(function)]() mutable {
        if (job_ == id) function();
      },
      Qt::QueuedConnection);
}

void SecondPlan::run(const Job& job) {
  if (job_ != job.id) return;
  try {
    find(job);
  } catch (const std::exception& thrown) {
    post(job, [this, why = QString::fromUtf8(thrown.what())] {
      plan_.reset();
      problem_ = why;
      busy_ = false;
      emit changed();
    });
  }
}

void SecondPlan::find(const Job& job) {
  if (!kept_ || job.read_again || kept_->opened != job.opened || kept_->choice != job.choice ||
      job.choice.what == SecondChoice::What::BeforeChange) {
    kept_.reset();
    kept_ = find_sources(job);
  }
  if (job_ != job.id) return;
  const Sources& sources = *kept_;
  auto plan = std::make_shared<OtherPlan>();
  plan->label = sources.label;
  plan->problem = sources.problem;
  plan->strategy = sources.strategy;
  plan->remarks = sources.remarks;
  if (!sources.strategy.priorities.empty() && job.simulation.order == TaskOrder::Fifo)
    plan->remarks << tr("The order that it gives does not count: tasks run first in, first out.");
  const bool known = job.baseline && job.choice.what == SecondChoice::What::DataParallel;
  plan->outcome = known ? job.baseline
                        : std::make_shared<const Outcome>(
                              simulate_as(*sources.problem, sources.strategy, job.simulation));
  post(job, [this, plan = std::shared_ptr<const OtherPlan>(plan)] {
    plan_ = plan;
    problem_.clear();
    emit changed();
  });
  const bool same = sources.problem->graph == job.opened->graph &&
                    sources.problem->cluster == job.opened->cluster;
  auto explained = std::make_shared<OtherPlan>(*plan);
  explained->explanation = std::make_shared<const Explanation>(
      explain_quickly(plan->outcome->timeline, nullptr, *sources.problem->cost,
                      same ? job.lower_bound : lower_bound(*sources.problem)));
  post(job, [this, explained] {
    plan_ = explained;
    busy_ = false;
    emit changed();
  });
}

namespace {

struct FoundPlan {
  Problem problem;  // in any groups
  Strategy strategy;
  QString label;
};

FoundPlan stored_plan(const ForeignProblem& foreign, const Workspace& workspace, StrategyRow row) {
  const std::string name = "strategy " + std::to_string(row);
  const auto stored = require_row(workspace.strategies().find(row), workspace.file(), name);
  const auto model_row =
      require_row(workspace.problems().model(stored.model), workspace.file(), "its model");
  const auto cluster_row =
      require_row(workspace.problems().cluster(stored.cluster), workspace.file(), "its cluster");
  std::optional<ModelSource> model;
  if (model_row.digest != foreign.opened.graph->digest())
    model = model_from(model_row, workspace.file().string());
  auto cluster = cluster_row.digest == foreign.opened.cluster->digest()
                     ? foreign.opened.cluster
                     : cluster_from(cluster_row).cluster;
  FoundPlan found{foreign.problem(model ? &*model : nullptr, std::move(cluster)), {}, {}};
  const NamedStrategy named = parse_strategy(stored.json, workspace.file().string());
  Rebound bound = restore_strategy(named, *found.problem.graph, *found.problem.grouping,
                                   *found.problem.cluster, op_times_of(found.problem));
  note_unmatched(bound.unmatched, foreign.remarks);
  found.strategy = std::move(bound.strategy);
  found.label = text(stored.label);
  return found;
}

FoundPlan run_plan(const ForeignProblem& foreign, const Workspace& workspace, RunRow row) {
  const std::string name = "run " + std::to_string(row);
  const auto run = require_row(workspace.runs().find(row), workspace.file(), name);
  if (!run.best)
    throw InputError(workspace.file().string(), name, "has found no strategy",
                     "choose another run");
  FoundPlan found = stored_plan(foreign, workspace, *run.best);
  found.label = QStringLiteral("%1 #%2").arg(text(run.planner)).arg(row);
  return found;
}

FoundPlan file_plan(const ForeignProblem& foreign, const PluginRegistry& plugins,
                    const std::filesystem::path& file) {
  const PlanFile plan = read_plan(file);
  std::optional<ModelSource> model;
  if (plan.graph_digest != foreign.opened.graph->digest()) {
    const ImportOptions import =
        noted_import(JsonView::parse(plan.result_json, file.string()), plan.batch);
    model = import_model(plugins, find_model(plan, file), import, options_of_plan(plan));
  }
  FoundPlan found{foreign.problem(model ? &*model : nullptr,
                                  foreign.cluster(plan_cluster(plan, file.string()))),
                  {},
                  text(file.stem().string())};
  check_same_model(plan, file.string(), *found.problem.graph);
  BoundPlan bound =
      bind_plan(plan, *found.problem.graph, *found.problem.cluster, op_times_of(found.problem));
  note_unmatched(bound.unmatched, foreign.remarks);
  found.strategy = std::move(bound.strategy);
  if (bound.grouping.digest() != found.problem.grouping->digest())
    found.problem = with_grouping(found.problem, std::move(bound.grouping));
  return found;
}

}  // namespace

SecondPlan::Sources SecondPlan::find_sources(const Job& job) const {
  Sources sources{job.choice, job.opened, job.opened, {}, {}, {}};
  const ForeignProblem foreign{*job.opened, job.costs, sources.remarks};
  FoundPlan found{*job.opened, {}, {}};
  switch (job.choice.what) {
    case SecondChoice::What::DataParallel:
      found.strategy = data_parallel(*job.opened);
      found.label = tr("Data parallel");
      break;
    case SecondChoice::What::BeforeChange:
      found.strategy = job.before->strategy;
      found.label = tr("%1, before the last change").arg(job.before->label);
      break;
    case SecondChoice::What::Strategy:
      found = stored_plan(foreign, Workspace(job.workspace, true), job.choice.row);
      break;
    case SecondChoice::What::Run:
      found = run_plan(foreign, Workspace(job.workspace, true), job.choice.row);
      break;
    case SecondChoice::What::File:
      found = file_plan(foreign, session_.plugins(), job.choice.file);
      break;
  }
  sources.strategy = complete(found.strategy, *found.problem.cluster);
  sources.label = found.label;
  Problem in_groups = problem_for(found.problem, sources.strategy);
  const bool as_opened = in_groups.graph == job.opened->graph &&
                         in_groups.cluster == job.opened->cluster &&
                         in_groups.grouping->digest() == job.opened->grouping->digest();
  if (!as_opened) sources.problem = std::make_shared<const Problem>(std::move(in_groups));
  return sources;
}

std::vector<SecondPlan::Offer> SecondPlan::offers() const {
  using What = SecondChoice::What;
  std::vector<Offer> offers = {{{}, tr("Data parallel"), {}}};
  if (before_)
    offers.push_back(
        {{What::BeforeChange, 0, {}}, tr("Before the last change: %1").arg(before_->label), {}});
  if (choice_.what == What::File)
    offers.push_back({choice_, text(choice_.file.filename().string()), {}});
  const WorkspaceLists* workspace = session_.workspace();
  if (!workspace || !opened_) return offers;
  std::map<ModelRow, QString> models;  // those that are not the open one
  std::map<ClusterRow, QString> clusters;
  for (const StoredModel& model : workspace->models())
    if (model.digest != opened_->graph->digest()) models[model.id] = text(model.name);
  for (const StoredCluster& cluster : workspace->clusters())
    if (cluster.digest != opened_->cluster->digest()) clusters[cluster.id] = text(cluster.name);
  const auto add = [&](What what, std::int64_t row, const auto& of, QString name,
                       const QString& section) {
    const auto model = models.find(of.model);
    const auto cluster = clusters.find(of.cluster);
    if (model != models.end()) name += tr(", %1").arg(model->second);
    if (cluster != clusters.end()) name += tr(" on %1").arg(cluster->second);
    offers.push_back({{what, row, {}}, name, section});
  };
  std::vector<StoredRun> runs = workspace->runs();
  std::erase_if(runs, [](const StoredRun& run) { return !run.best; });
  const auto latest = [](const auto& rows) { return std::min(rows.size(), kMostOffers); };
  for (std::size_t i = 0; i < latest(runs); ++i) {
    const StoredRun& run = runs[runs.size() - 1 - i];
    add(What::Run, run.id, run, QStringLiteral("%1 #%2").arg(text(run.planner)).arg(run.id),
        tr("Runs"));
  }
  std::vector<StoredStrategy> strategies = workspace->strategies();
  const Digest first = complete(data_parallel(*opened_), *opened_->cluster).digest();
  std::erase_if(strategies, [&](const StoredStrategy& strategy) {  // listed above
    const bool elsewhere = models.contains(strategy.model) || clusters.contains(strategy.cluster);
    return strategy.run.has_value() || (!elsewhere && strategy.digest == first);
  });
  for (std::size_t i = 0; i < latest(strategies); ++i) {
    const StoredStrategy& strategy = strategies[strategies.size() - 1 - i];
    add(What::Strategy, strategy.id, strategy, text(strategy.label), tr("Strategies"));
  }
  return offers;
}

void SecondPlan::settle() {
  while (busy_) {
    worker_.wait();
    QCoreApplication::sendPostedEvents(this);
    QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
  }
}

}  // namespace strato
