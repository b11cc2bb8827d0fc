// Opening files: models, clusters, costs and plans; and loading as such.
#include <QMetaMethod>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/calibration.h"
#include "core/cost/value/profile.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/use/import_note.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/strategy/file/named_strategy.h"
#include "core/strategy/file/plan_file.h"
#include "views/models/session.h"
#include "views/models/session_state.h"

namespace strato {
namespace {

constexpr const char* kDefaultCluster = "tag-testbed";

// Ends a load that goes on once a person has said something.
struct Asked {
  WantedDimension wanted;
};

QString opening(const std::filesystem::path& file) {
  return Session::tr("Opening %1").arg(QString::fromStdString(file.filename().string()));
}

// The plan's own grouping replaces the one that the model was prepared with.
void choose_plan(LoadedProblem& loaded, const PlanFile& plan, const QString& label) {
  const Problem& problem = *loaded.prepared.problem;
  BoundPlan bound = bind_plan(plan, *problem.graph, *problem.cluster,
                              mean_op_times(*problem.graph, *problem.cluster, *problem.cost));
  loaded.prepared = regrouped(loaded.prepared, std::move(bound.grouping));
  loaded.strategy = complete(bound.strategy, *loaded.prepared.problem->cluster);
  loaded.label = label;
  loaded.unmatched = bound.unmatched;
}

ProblemOptions options_of(const PlanFile& plan) {
  ProblemOptions options;
  options.training = plan.optimizer != "none";
  if (options.training && !plan.optimizer.empty())
    options.optimizer = optimizer_from(plan.optimizer);
  return options;
}

}  // namespace

LoadedProblem Loader::load(Simulation simulation) {
  if (!cluster) cluster = bundled_cluster(kDefaultCluster);
  if (!prepared) prepared = prepare(*model, *cluster, costs);
  LoadedProblem loaded;
  loaded.model = *model;
  loaded.cluster = *cluster;
  loaded.prepared = *prepared;
  loaded.costs = costs;
  loaded.cost_files = cost_files;
  if (choose) std::exchange(choose, {})(loaded);
  prepared = loaded.prepared;
  if (loaded.strategy.groups.empty()) {
    loaded.strategy = data_parallel(*prepared->problem);
    loaded.label = Session::tr("Data parallel");
  }
  last = {loaded.strategy, loaded.label};
  simulate(loaded, simulation);
  return loaded;
}

void Loader::simulate(LoadedProblem& loaded, Simulation simulation) {
  if (!loaded.strategy.priorities.empty()) simulation.order = TaskOrder::Priority;
  const Problem& problem = *loaded.prepared.problem;
  const Strategy reference = data_parallel(problem);
  loaded.simulation = simulation;
  loaded.baseline = loaded.prepared.baseline;
  if (simulation != Simulation{}) {
    loaded.baseline = std::make_shared<const Outcome>(simulate_as(problem, reference, simulation));
  }
  loaded.outcome =
      loaded.strategy == reference
          ? loaded.baseline
          : std::make_shared<const Outcome>(simulate_as(problem, loaded.strategy, simulation));
}

void Session::State::drop_loads(const Snapshot& shown) {
  ++load_job;
  load.post(
      [this, model = model, cluster = cluster, costs = shown.costs, files = shown.cost_files] {
        loader.model = model;
        loader.cluster = cluster;
        loader.costs = costs;
        loader.cost_files = files;
        loader.forget_problem();
      });
}

// `failed` tells errors at once; what was prepared before them is still shown, by the last load
// that waits.
void Session::load(const QString& text, LoadJob prepare, std::function<void()> shown) {
  const std::uint64_t job = ++state_->load_job;
  ++state_->loads_begun;
  begin_busy(text);
  state_->load.post([this, job, opening = state_->openings, simulation = simulation_,
                     prepare = std::move(prepare), shown = std::move(shown)]() mutable {
    const auto tell = [this](const char* what) {
      post([this, error = QString::fromUtf8(what)] { emit failed(error); });
    };
    try {
      prepare(state_->loader);
    } catch (const Asked& asked) {
      shown = {};
      post([this, opening, wanted = asked.wanted] { ask_dimension(opening, wanted); });
    } catch (const std::exception& error) {
      shown = {};
      tell(error.what());
    }
    Loader& loader = state_->loader;
    const bool wanted = loader.model && (!loader.prepared || loader.choose);
    if (job == state_->load_job && wanted) {
      try {
        auto loaded = std::make_shared<LoadedProblem>(loader.load(simulation));
        post([this, job, loaded, shown] {
          if (job != state_->load_job) return;
          const auto& from = loaded->workspace;
          if (!from.empty() && !(workspace() && workspace()->file() == from))
            return state_->drop_loads(snapshot_);
          show_loaded(std::move(*loaded));
          if (shown) shown();
        });
      } catch (const std::exception& error) {
        loader.choose = {};
        if (!loader.prepared) loader.model.reset();
        tell(error.what());
      }
    }
    post([this, job] {
      if (job == state_->load_job) state_->recorder.nothing_comes();
      end_busy();
    });
  });
}

void Session::load_model(const QString& text, LoadJob prepare, std::function<void()> shown) {
  ++state_->openings;
  load(text, std::move(prepare), std::move(shown));
}

// Nobody is asked, and no answer counts, once another model was to be opened.
void Session::ask_dimension(std::uint64_t opening, WantedDimension wanted) {
  if (opening != state_->openings) return;
  wanted.open = [this, opening, open = std::move(wanted.open)](std::int64_t extent) {
    if (opening == state_->openings) return open(extent);
    emit message(tr("Another model was opened meanwhile"));
  };
  emit dimension_wanted(wanted);
}

void Session::open_model(const std::filesystem::path& file, const ImportOptions& import,
                         const ProblemOptions& options) {
  load_model(opening(file), [this, file, import, options](Loader& loader) {
    loader.model = import_asking(file, import, options, [=, this](const ImportOptions& bound) {
      open_model(file, bound, options);
    });
    loader.forget_problem();
  });
}

ModelSource Session::import_asking(const std::filesystem::path& file, const ImportOptions& import,
                                   const ProblemOptions& options,
                                   std::function<void(const ImportOptions&)> again) {
  static const QMetaMethod asks = QMetaMethod::fromSignal(&Session::dimension_wanted);
  try {
    return import_model(plugins_, file, import, options);
  } catch (const UnboundDimension& unbound) {
    if (!isSignalConnected(asks)) throw;
    WantedDimension wanted{QString::fromStdString(unbound.file()),
                           QString::fromStdString(unbound.input()),
                           QString::fromStdString(unbound.symbol()),
                           unbound.axis(),
                           {}};
    wanted.open = [again = std::move(again), import, name = unbound.symbol()](std::int64_t extent) {
      ImportOptions bound = import;
      bound.dimensions[name] = extent;
      again(bound);
    };
    throw Asked{std::move(wanted)};
  }
}

void Session::reopen_model(const ImportOptions& import, const ProblemOptions& options) {
  if (!state_->model) return;
  ImportOptions now = state_->model->import, wanted = import;
  if (!wanted.batch) wanted.batch = state_->model->graph->batch();
  now.batch = state_->model->graph->batch();
  load_model(opening(state_->model->path), [=, this](Loader& loader) {
    if (!loader.model) return;
    if (wanted != now)
      loader.model =
          import_asking(loader.model->path, wanted, options,
                        [=, this](const ImportOptions& bound) { reopen_model(bound, options); });
    loader.model->options = options;
    loader.forget_problem();
  });
}

void Session::regroup(int max_groups) {
  if (!state_->model) return;
  load(tr("Grouping ops"), [max_groups](Loader& loader) {
    if (!loader.model) return;
    loader.model->options.grouping.max_groups = max_groups;
    loader.forget_problem();
  });
}

void Session::open_cluster(const std::filesystem::path& file) {
  load(opening(file), [this, file](Loader& loader) {
    ClusterSource source;
    source.path = file;
    source.cluster = std::make_shared<const Cluster>(read_cluster(file, GpuCatalogue::bundled()));
    loader.cluster = std::move(source);
    loader.forget_problem();
    if (!loader.model) {
      post([this, cluster = *loader.cluster] {
        state_->cluster = cluster;
        emit problem_changed();
        if (state_->busy > 1) return;  // a model is on its way
        emit message(tr("Cluster %1 is ready: open a model to plan for it")
                         .arg(QString::fromStdString(cluster.cluster->name())));
      });
    }
  });
}

void Session::recost(const QString& text, std::function<void(CostSources&, CostFiles&)> change) {
  const std::shared_ptr<const Grouping> grouping =
      snapshot_.opened ? snapshot_.opened->grouping : nullptr;
  const ShownStrategy shown{snapshot_.strategy, snapshot_.label};
  load(text, [this, change = std::move(change), grouping, shown](Loader& loader) {
    CostSources costs = loader.costs;
    CostFiles files = loader.cost_files;
    change(costs, files);
    loader.costs = std::move(costs);
    loader.cost_files = std::move(files);
    if (!loader.prepared) {
      if (!loader.model) {
        post([this] { emit message(tr("Costs are read: open a model")); });
      }
      return;
    }
    const bool same = loader.prepared->problem->grouping == grouping;
    loader.prepared = recosted(*loader.prepared, loader.costs);
    loader.choose = [keep = same ? shown : loader.last](LoadedProblem& loaded) {
      const Problem problem = problem_for(*loaded.prepared.problem, keep.strategy);
      if (keep.strategy.groups.size() != problem.grouping->size()) return;
      loaded.strategy = keep.strategy;
      loaded.label = keep.label;
    };
  });
}

void Session::open_profile(const std::filesystem::path& file) {
  recost(opening(file), [file](CostSources& costs, CostFiles& files) {
    costs.profile = std::make_shared<const Profile>(read_profile(file));
    files.profiles = {file.string()};
  });
}

void Session::open_calibration(const std::filesystem::path& file) {
  recost(opening(file), [file](CostSources& costs, CostFiles& files) {
    costs.calibration = std::make_shared<const Calibration>(read_calibration(file));
    files.calibration = file.string();
  });
}

void Session::close_costs() {
  recost(tr("Closing the profile"), [](CostSources& costs, CostFiles& files) {
    costs = {};
    files = {};
  });
}

void Session::open_plan(const std::filesystem::path& file,
                        const std::map<std::string, std::int64_t>& dimensions) {
  load_model(opening(file), [this, file, dimensions](Loader& loader) {
    const PlanFile plan = read_plan(file);
    ImportOptions import =
        noted_import(JsonView::parse(plan.result_json, file.string()), plan.batch);
    import.dimensions.insert(dimensions.begin(), dimensions.end());
    ModelSource model =
        import_asking(find_model(plan, file), import, options_of(plan),
                      [=, this](const ImportOptions& bound) { open_plan(file, bound.dimensions); });
    ClusterSource cluster;
    cluster.cluster = std::make_shared<const Cluster>(plan_cluster(plan, file.string()));
    loader.model = std::move(model);
    loader.cluster = std::move(cluster);
    loader.forget_problem();
    loader.choose = [plan, file](LoadedProblem& loaded) {
      check_same_model(plan, file.string(), *loaded.prepared.problem->graph);
      choose_plan(loaded, plan, QString::fromStdString(file.stem().string()));
    };
  });
}

const ModelSource* Session::model_source() const {
  return state_->model ? &*state_->model : nullptr;
}

void Session::open_problem(const ModelSource& model, std::shared_ptr<const Cluster> cluster,
                           const NamedStrategy& strategy, const QString& label) {
  load_model(tr("Opening %1").arg(QString::fromStdString(model.name)),
             [model, cluster = std::move(cluster), strategy, label](Loader& loader) {
               loader.model = model;
               loader.cluster = ClusterSource{{}, cluster};
               loader.forget_problem();
               loader.choose = [strategy, label](LoadedProblem& loaded) {
                 PlanFile plan;
                 plan.graph_digest = loaded.prepared.problem->graph->digest();
                 plan.strategy = strategy;
                 choose_plan(loaded, plan, label);
               };
             });
}

}  // namespace strato
