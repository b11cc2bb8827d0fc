#include "views/models/problem_what_if.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <algorithm>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/strategy/file/named_strategy.h"
#include "views/models/problem_source.h"
#include "views/models/simulation.h"
#include "views/models/what_if_replan.h"

namespace strato {
namespace {

constexpr std::int64_t kMostMachines = 16;

QString name_of_device(const Problem& problem, DeviceId device) {
  return device.valid() ? QString::fromStdString(problem.cluster->device(device).name) : QString();
}

}  // namespace

struct ProblemWhatIf::Job {
  std::uint64_t id;
  std::shared_ptr<ProblemChanger> changer;
  Strategy strategy;
  Simulation simulation;
  std::shared_ptr<const Outcome> today;
  ProblemChange change;
  WhatIfAxis axis;
  std::optional<MachineKind> kind;

  Outcome simulate(const Problem& problem, const Strategy& each) const {
    return simulate_as(problem, each, simulation);
  }
  WhatIfPoint point(const ProblemChange& at) const {
    return what_if_point(*changer, strategy, at, [this](const Problem& problem, const Strategy& s) {
      return simulate(problem, s);
    });
  }
};

ProblemWhatIf::ProblemWhatIf(Session& session, QObject* parent)
    : QObject(parent), session_(session) {
  connect(&session_, &Session::problem_changed, this, &ProblemWhatIf::take_problem);
  connect(&session_, &Session::outcome_changed, this, &ProblemWhatIf::take_problem);
  connect(&session_, &Session::busy_changed, this, [this] {
    if (opening_ == Opening::Loaded && !session_.busy()) set_opening(Opening::No);
  });
  take_problem();
}

ProblemWhatIf::~ProblemWhatIf() {
  ++job_;
  worker_.end();
  files_.end();
}

// Other costs, another grouping or another strategy of the same model and cluster keep what was
// asked for.
void ProblemWhatIf::take_problem() {
  const std::shared_ptr<const Problem> now = session_.snapshot().problem;
  if (now != problem_) {
    const bool other =
        !now || !problem_ || now->graph != problem_->graph || now->cluster != problem_->cluster;
    problem_ = now;
    changer_ = now ? std::make_shared<ProblemChanger>(*now, session_.snapshot().costs) : nullptr;
    if (other) {
      change_ = {};
      kinds_ = now ? machine_kinds(*now->cluster) : std::vector<MachineKind>();
      const bool known = std::ranges::any_of(kinds_, [&](const MachineKind& kind) {
        return QString::fromStdString(kind.name) == kind_;
      });
      if (!known) kind_ = kinds_.empty() ? QString() : QString::fromStdString(kinds_[0].name);
      found_.reset();
      curve_ = {};
      scaling_ = {};
      emit inputs_changed();
    }
  }
  refresh();
}

bool ProblemWhatIf::stale(const Job& job) const { return job_ != job.id; }

void ProblemWhatIf::set_active(bool active) {
  if (active == active_) return;
  active_ = active;
  if (active && stale_) refresh();
}

void ProblemWhatIf::set_change(const ProblemChange& change) {
  if (change == change_) return;
  change_ = change;
  refresh();
}

void ProblemWhatIf::set_axis(WhatIfAxis axis) {
  if (axis == axis_) return;
  axis_ = axis;
  refresh();
}

void ProblemWhatIf::set_kind(const QString& kind) {
  if (kind == kind_ || kind.isEmpty()) return;
  kind_ = kind;
  refresh();
}

void ProblemWhatIf::refresh() {
  const Snapshot& snapshot = session_.snapshot();
  ++job_;  // what is under way is about something else
  stale_ = true;
  const bool ready = active_ && snapshot.problem && snapshot.outcome && changer_;
  if (ready) {
    stale_ = false;
    auto job = std::make_shared<Job>();
    *job = {job_,  changer_, snapshot.strategy, session_.simulation(), snapshot.outcome, change_,
            axis_, {}};
    for (const MachineKind& kind : kinds_)
      if (QString::fromStdString(kind.name) == kind_) job->kind = kind;
    worker_.post([this, job] { run(job); });
  }
  if (busy_ != ready) {
    busy_ = ready;
    emit busy_changed();
  }
}

// To the GUI thread, unless something newer was asked for by then.
template <class Function>
void ProblemWhatIf::post(const Job& job, Function function) {
  QMetaObject::invokeMethod(
      this,
      [this, id = job.id, function = std::move(function)]() mutable {
        if (job_ == id) function();
      },
      Qt::QueuedConnection);
}

void ProblemWhatIf::run(const std::shared_ptr<Job>& job) {
  if (stale(*job)) return;
  try {
    find_figures(*job);
    find_curve(*job);
    find_scaling(*job);
  } catch (const std::exception& thrown) {
    post(*job, [this, text = QString::fromUtf8(thrown.what())] { emit session_.message(text); });
  }
  post(*job, [this] {
    busy_ = false;
    emit busy_changed();
  });
}

void ProblemWhatIf::find_figures(const Job& job) {
  const Problem& problem = job.changer->problem();
  WhatIfFound found;
  found.change = job.change;
  found.today = figures_of(problem, *job.today);
  found.fullest_today = name_of_device(problem, found.today.fullest);
  try {
    const ChangedProblem changed = job.changer->apply(job.change);
    const Problem& then = changed.problem;
    found.then = figures_of(then, job.simulate(then, carry_over(job.strategy, changed)));
    if (stale(job)) return;
    found.data_parallel = figures_of(then, job.simulate(then, data_parallel(then)));
    found.fullest_then = name_of_device(then, found.then.fullest);
    found.fullest_data_parallel = name_of_device(then, found.data_parallel.fullest);
    found.devices = then.cluster->device_count();
    for (const std::string& remark : changed.remarks)
      found.remark += QString::fromStdString(remark);
  } catch (const InputError& error) {
    found.problem = QString::fromUtf8(error.what());
  }
  post(job, [this, found = std::move(found)] {
    found_ = found;
    emit found_changed();
  });
}

void ProblemWhatIf::find_curve(const Job& job) {
  const Problem& problem = job.changer->problem();
  std::vector<double> values = usual_values(job.axis, problem);
  const double here = value_of(job.change, job.axis, problem);
  if (std::ranges::find(values, here) == values.end()) values.push_back(here);
  std::ranges::sort(values);
  WhatIfCurve curve{job.axis, values.size(), {}, {}};
  for (const double value : values) {
    if (stale(job)) return;
    curve.values.push_back(value);
    curve.points.push_back(job.point(with_value(job.change, job.axis, value)));
    post(job, [this, curve] {
      curve_ = curve;
      emit curve_changed();
    });
  }
}

void ProblemWhatIf::find_scaling(const Job& job) {
  if (!job.kind) return;
  const Problem& problem = job.changer->problem();
  const std::vector<ScalingPoint> points =
      scaling_points(problem, job.change, *job.kind, kMostMachines);
  WhatIfScaling scaling{QString::fromStdString(job.kind->name),
                        static_cast<std::int64_t>(job.kind->machines.size()),
                        points.size(),
                        {}};
  for (const ScalingPoint& at : points) {
    if (stale(job)) return;
    ScalingRow row{at,
                   at.strong.batch.value_or(problem.graph->batch()),
                   at.weak.batch.value_or(problem.graph->batch()),
                   job.point(at.strong),
                   {}};
    if (stale(job)) return;
    row.weak = job.point(at.weak);
    scaling.rows.push_back(std::move(row));
    post(job, [this, scaling] {
      scaling_ = scaling;
      emit scaling_changed();
    });
  }
}

namespace {

// "tag-testbed (network x2, 3 v100)"; the batch and the precision are the model's.
std::shared_ptr<const Cluster> named_cluster(const std::shared_ptr<const Cluster>& cluster,
                                             const ProblemChange& change) {
  const auto kept = cluster_to_keep(cluster, change);
  ProblemChange of_cluster = change;
  of_cluster.batch.reset();
  of_cluster.precision.reset();
  return kept == cluster ? kept
                         : with_name(kept, cluster->name() + " (" + describe(of_cluster) + ")");
}

// What is opened in the place of a problem.
struct OpenedChange {
  ModelSource model;
  std::shared_ptr<const Cluster> cluster;
  NamedStrategy strategy;
};

OpenedChange opened_change(ProblemChanger& changer, ModelSource model, const ProblemChange& change,
                           const Strategy& strategy, const ReplanFound* replanned) {
  const ChangedProblem changed = changer.apply(change);
  const Problem& problem = replanned != nullptr ? *replanned->problem : changed.problem;
  OpenedChange opened;
  opened.cluster = named_cluster(changer.problem().cluster, change);
  opened.strategy =
      name_strategy(replanned != nullptr ? replanned->strategy : carry_over(strategy, changed),
                    *problem.graph, *problem.grouping, *problem.cluster);
  model.graph = std::make_shared<const Graph>(changed_graph(*model.graph, change));
  model.import.batch = model.graph->batch();
  opened.model = std::move(model);
  return opened;
}

}  // namespace

void ProblemWhatIf::save_cluster(const std::filesystem::path& file) {
  if (!problem_) return;
  files_.post([this, file, cluster = problem_->cluster, change = change_] {
    QString error;
    try {
      write_file(file, named_cluster(cluster, change)->json());
    } catch (const std::exception& thrown) {
      error = QString::fromUtf8(thrown.what());
    }
    const auto tell = [this, error, name = QString::fromStdString(file.string())] {
      if (error.isEmpty()) {
        emit session_.written(name);
      } else {
        emit session_.failed(error);
      }
    };
    QMetaObject::invokeMethod(this, tell, Qt::QueuedConnection);
  });
}

bool ProblemWhatIf::go_on(const std::shared_ptr<const ReplanFound>& replanned) {
  if (!problem_ || session_.model_source() == nullptr || change_ == ProblemChange()) return false;
  if (opening() || (replanned && replanned->change != change_)) return false;
  set_opening(Opening::Prepared);
  prepare(change_, replanned);
  return true;
}

void ProblemWhatIf::set_opening(Opening opening) {
  const bool was = this->opening();
  opening_ = opening;
  if (was != this->opening()) emit opening_changed();
}

// Again where the strategy is another by then; not at all where the problem is.
void ProblemWhatIf::prepare(const ProblemChange& change,
                            const std::shared_ptr<const ReplanFound>& replanned) {
  const Snapshot& now = session_.snapshot();
  const QString label = (replanned ? replanned->planner : now.label) + QStringLiteral(", ") +
                        QString::fromStdString(describe(change));
  files_.post([this, replanned, label, change, model = *session_.model_source(), asked = problem_,
               costs = now.costs, strategy = now.strategy] {
    const auto tell = [this](auto function) {
      QMetaObject::invokeMethod(this, std::move(function), Qt::QueuedConnection);
    };
    try {
      ProblemChanger changer(*asked, costs);
      auto opened = std::make_shared<OpenedChange>(
          opened_change(changer, model, change, strategy, replanned.get()));
      tell([this, opened, label, asked, change, replanned, strategy] {
        const bool other =
            !problem_ || problem_->graph != asked->graph || problem_->cluster != asked->cluster;
        if (other) return set_opening(Opening::No);
        if (!replanned && (problem_ != asked || session_.snapshot().strategy != strategy))
          return prepare(change, replanned);
        set_opening(Opening::Loaded);
        session_.open_problem(opened->model, opened->cluster, opened->strategy, label);
      });
    } catch (const std::exception& thrown) {
      tell([this, error = QString::fromUtf8(thrown.what())] {
        set_opening(Opening::No);
        emit session_.failed(error);
      });
    }
  });
}

void ProblemWhatIf::settle() {
  do {
    worker_.wait();
    files_.wait();
    QCoreApplication::sendPostedEvents(this);
    QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
  } while (busy_ || opening_ == Opening::Prepared);
}

}  // namespace strato
