// `train`: makes the weights of a planner that learns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/samples.h"
#include "app/cli/training_recorder.h"
#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/base/quantity_text.h"
#include "core/search/api/trainer.h"

namespace strato::cli {
namespace {

// TAG's benchmarks with their global batches (TAG, table 3).
const std::vector<std::pair<std::string, std::int64_t>>& tag_models() {
  static const std::vector<std::pair<std::string, std::int64_t>> models = {
      {"inception_v3", 96}, {"resnet101", 96},  {"vgg19", 96},
      {"transformer", 480}, {"bert_small", 96}, {"bert_large", 16}};
  return models;
}

struct TrainOptions {
  std::string planner, workspace, checkpoint, output, master;
  std::vector<std::string> graphs, models, without, clusters;
  int random_clusters = 100;
  std::int64_t steps = 1000;
  PlannerChoice common;  // seed, threads, set
  std::optional<std::string> budget;
  int rank = 0, processes = 1;
};

// "vgg19", "vgg19=96", "folder/model.onnx=32"
struct ModelChoice {
  std::string graph, name;
  std::optional<std::int64_t> batch;
};

ModelChoice parse_choice(const std::string& text) {
  ModelChoice choice;
  const std::size_t equals = text.rfind('=');
  choice.graph = text.substr(0, equals);
  choice.name = model_path(choice.graph).stem().string();
  for (const auto& [name, batch] : tag_models())
    if (name == choice.graph) choice.batch = batch;
  if (equals == std::string::npos) return choice;
  const std::string digits = text.substr(equals + 1);
  choice.batch = number_from<std::int64_t>(digits, 1, 999'999'999);
  if (!choice.batch)
    throw InputError("", text, "\"" + digits + "\" is no batch", "write the model as name=batch");
  return choice;
}

std::vector<ModelChoice> chosen_models(const TrainOptions& options) {
  std::vector<std::string> texts = options.graphs;
  texts.insert(texts.end(), options.models.begin(), options.models.end());
  std::vector<ModelChoice> choices;
  for (const std::string& text : texts) choices.push_back(parse_choice(text));
  if (texts.empty())
    for (const auto& [name, batch] : tag_models()) choices.push_back({name, name, batch});
  std::string list;
  for (const ModelChoice& choice : choices) list += (list.empty() ? "" : ", ") + choice.name;
  for (const std::string& name : options.without) {
    const auto left_out = [&](const ModelChoice& c) { return c.name == name || c.graph == name; };
    if (std::erase_if(choices, left_out) == 0)
      throw InputError("", "--without " + name, "is none of the models", "they are: " + list);
  }
  if (choices.empty())
    throw InputError("", "--without", "no model is left to learn from", "leave fewer out");
  return choices;
}

TrainingOptions training_options(const TrainOptions& options) {
  const PlannerOptions common = options.common.options();
  TrainingOptions training;
  training.random_clusters = options.random_clusters;
  training.steps = options.steps;
  if (options.budget) training.budget_seconds = parse_duration(*options.budget, "--budget");
  training.seed = common.seed;
  training.threads = common.threads;
  training.set = common.set;
  training.checkpoint = options.checkpoint;
  training.output = options.output;
  training.rank = options.rank;
  training.processes = options.processes;
  training.master = options.master;
  return training;
}

std::shared_ptr<const Graph> graph_of(const ModelChoice& choice) {
  ModelOptions model;
  model.graph = choice.graph;
  model.batch = choice.batch;
  try {
    return load_model(model).graph;
  } catch (const InputError& error) {
    if (choice.batch || error.remedy().find("--batch") == std::string::npos) throw;
    throw InputError(error.file(), error.place(), error.problem(),
                     "give the batch with the model: " + choice.graph + "=32");
  }
}

void load(const TrainOptions& options, TrainingOptions& training) {
  for (const ModelChoice& choice : chosen_models(options))
    training.models.push_back({choice.name, graph_of(choice)});
  for (const std::string& cluster : options.clusters)
    training.clusters.push_back(load_cluster(cluster));
}

Trainer& trainer_of(Planner& planner) {
  Trainer* trainer = planner.trainer();
  if (trainer != nullptr) return *trainer;
  throw InputError("", planner.name(), "this planner learns nothing: there is nothing to train",
                   "train a planner that learns: tag, gdp");
}

void check_files(const TrainOptions& options) {
  std::vector<std::filesystem::path> read;
  for (const ModelChoice& choice : chosen_models(options)) read.push_back(model_path(choice.graph));
  for (const std::string& cluster : options.clusters) read.push_back(cluster_path(cluster));
  check_writable(options.checkpoint, read);
  read.insert(read.end(), {options.checkpoint, options.workspace});
  check_writable(options.output, read);
  if (options.checkpoint.empty() && options.output.empty())
    throw InputError("", "train", "the weights would be lost", "say where they go with -o WEIGHTS");
}

std::string summary(const TrainOptions& options, const TrainingResult& result) {
  const TrainingPoint& last = result.last;
  std::string text = fmt::format("{} after {} steps, {} searches, {} examples", options.planner,
                                 last.step, last.searches, last.examples);
  text += fmt::format(", {} s", significant_text(last.elapsed_seconds));
  // 0: all had been learned before.
  if (last.loss > 0) text += fmt::format(": loss {:.4f}", last.loss);
  if (last.held_out_loss) text += fmt::format(", held out {:.4f}", *last.held_out_loss);
  if (last.held_out_ratio)
    text += fmt::format(", its answers there {:.3f} times the best known", *last.held_out_ratio);
  text += "\n";
  if (!options.output.empty() && options.rank == 0 && last.step > 0)
    text += "Weights written to " + options.output + "\n";
  if (!result.stopped) return text;
  return text + (options.checkpoint.empty()
                     ? "Stopped. Give --checkpoint FILE next time to be able to go on\n"
                     : "Stopped. The same command goes on from " + options.checkpoint + "\n");
}

Json summary_json(const TrainOptions& options, const TrainingResult& result, double wall_seconds) {
  const TrainingPoint& last = result.last;
  Json json = {{"planner", options.planner}, {"steps", last.step},
               {"searches", last.searches},  {"examples", last.examples},
               {"loss", last.loss},          {"held_out_loss", nullptr},
               {"stopped", result.stopped},  {"elapsed_s", last.elapsed_seconds},
               {"wall_s", wall_seconds}};
  if (last.held_out_loss) json["held_out_loss"] = *last.held_out_loss;
  if (last.held_out_ratio) json["held_out_ratio"] = *last.held_out_ratio;
  if (!options.output.empty()) json["weights"] = options.output;
  if (!options.checkpoint.empty()) json["checkpoint"] = options.checkpoint;
  return json;
}

int train(const TrainOptions& options, const Command& command) {
  Interrupt interrupt;
  const auto planner = plugins().planner(options.planner);
  Trainer& trainer = trainer_of(*planner);
  TrainingOptions training = training_options(options);
  check_files(options);
  load(options, training);
  std::optional<Workspace> workspace;
  if (!options.workspace.empty()) workspace.emplace(options.workspace);
  TrainingRecorder recorder(options.planner, training);
  if (workspace) recorder.record(*workspace);
  interrupt.arm();
  const TrainingResult result = trainer.train(training, recorder, interrupt.token());
  recorder.finish();
  print(command.json ? json_text(summary_json(options, result, command.wall_seconds())) + "\n"
                     : summary(options, result));
  return Done;
}

void declare_data(CLI::App& sub, TrainOptions& options) {
  sub.add_option("planner", options.planner, "A planner that learns: tag, gdp")->required();
  sub.add_option("graphs", options.graphs,
                 "Models: files or names of samples, with =BATCH behind; default: TAG's six");
  sub.add_option("--models", options.models, "The same as one list: vgg19,bert_small=96")
      ->delimiter(',');
  sub.add_option("--without", options.without, "Leave out a model; may be given again");
  sub.add_option("--cluster", options.clusters,
                 "A cluster beside the random ones: file, or name of a sample");
  sub.add_option("--clusters", options.random_clusters, "Random clusters, as TAG 5.2 draws them")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
}

void declare_work(CLI::App& sub, TrainOptions& options) {
  auto* steps = sub.add_option("--steps", options.steps, "Steps of the optimizer")
                    ->capture_default_str()
                    ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  sub.add_option("--budget", options.budget, "Time instead of steps: 10m, 2h")->excludes(steps);
  // strtoull(), which parses it, takes "-1" for the largest number.
  sub.add_option("--seed", options.common.seed, "Same seed and steps, same weights")
      ->capture_default_str()
      ->check([](const std::string& text) {
        return text.starts_with('-') ? text + " is negative" : std::string();
      });
  sub.add_option("--threads", options.common.threads, "0: one for each core")
      ->check(CLI::Range(0, 4096));
  sub.add_option("--set", options.common.set, "The trainer's own option: key=value");
  sub.add_option("--checkpoint", options.checkpoint,
                 "Written now and then; training goes on from it when it is there");
  sub.add_option("-o,--output", options.output, "Weights to write");
  sub.add_option("--workspace", options.workspace, "Store the loss curve here (.strata)");
  sub.add_option("--rank", options.rank, "Of this process, from 0")->check(CLI::Range(0, 4095));
  sub.add_option("--processes", options.processes, "That train together")
      ->check(CLI::Range(1, 4096));
  sub.add_option("--master", options.master, "host:port at which rank 0 is found");
}

}  // namespace

void add_train(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "train", "Make the weights of a planner that learns");
  const auto options = std::make_shared<TrainOptions>();
  declare_data(*sub, *options);
  declare_work(*sub, *options);
  sub->callback(
      [options, &command] { command.action = [=, &command] { return train(*options, command); }; });
}

}  // namespace strato::cli
