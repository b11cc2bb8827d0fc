#include "app/cli/study/measured/measured_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include "app/cli/study/measured/csv_table.h"
#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/io/file.h"

namespace strato::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kGiB = 1073741824;

// A model of GPT-2's shape, as Megatron-LM trains them.
Json gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t sequence,
         std::int64_t vocabulary) {
  return {{"model_type", "gpt2"},
          {"architectures", {"GPT2LMHeadModel"}},
          {"n_layer", layers},
          {"n_embd", hidden},
          {"n_head", heads},
          {"n_positions", sequence},
          {"vocab_size", vocabulary},
          {"activation_function", "gelu_new"},
          {"layer_norm_epsilon", 1e-05},
          {"torch_dtype", "bfloat16"}};
}

// Letters and digits alone: tables differ in the rest.
std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Of the bundled models; nothing where there is none of this name.
std::optional<Json> bundled_model(std::string_view name) {
  // Llama 3.1 has the shapes of Llama 3.
  std::string wanted = plain(name);
  if (wanted.starts_with("llama31")) wanted.erase(6, 1);
  const fs::path folder = home_directory() / "resources" / "studies" / "llm" / "models";
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (plain(entry.path().stem().string()) == wanted) return Json::parse(read_file(entry.path()));
  return std::nullopt;
}

void set(MeasuredRow& row, const std::string& option, std::int64_t value) {
  row.layout[option] = std::to_string(value);
}

// Stages begin with whole layers, and nothing is kept on hosts.
MeasuredRow framework_row() {
  MeasuredRow row;
  row.layout = {
      {"offload", "none"}, {"recompute", "none"}, {"whole_layers", "true"}, {"chunks", "1"}};
  return row;
}

// As frameworks do where they are told nothing: as many layers in each block, where that can be.
void divide_layers(MeasuredRow& row) {
  const auto number = [&](const std::string& option) {
    const auto found = row.layout.find(option);
    return found == row.layout.end() ? std::int64_t{1} : std::stoll(found->second);
  };
  const std::int64_t layers =
      row.config.value("num_hidden_layers", row.config.value("n_layer", std::int64_t{0}));
  if (layers % (number("stages") * number("chunks")) == 0) row.layout["equal_layers"] = "true";
}

// So many virtual stages on each device.
void set_chunks(MeasuredRow& row, std::int32_t chunks) {
  set(row, "chunks", chunks);
  if (chunks > 1) row.layout["schedule"] = "interleaved";
}

MeasuredMachines machines_of(const std::string& gpu, std::int32_t gpus, double fabric,
                             double network) {
  return {.gpu = gpu,
          .count = std::max(1, gpus / 8),
          .gpus_per_machine = std::min(8, gpus),
          .fabric_gbps = fabric,
          .network_gbps = network};
}
MeasuredMachines a100(std::int32_t gpus, double network) {
  return machines_of("A100-SXM4-80GB", gpus, 300, network);
}
MeasuredMachines h100(std::int32_t gpus) { return machines_of("H100-SXM5-80GB", gpus, 450, 400); }
MeasuredMachines b200(std::int32_t gpus) { return machines_of("B200-SXM-180GB", gpus, 900, 400); }

std::int64_t divided(const CsvRow& csv, std::string_view column, std::int64_t by) {
  const std::int64_t whole = csv.count(column);
  if (whole % by != 0)
    csv.fail(column, fmt::format("{} is no multiple of {}", whole, by),
             "give a whole number of micro-batches of equal rows");
  return whole / by;
}

// Megatron Core's usual buckets of gradients: of 40 million, or a million for each row with samples
// of its own where that is more, in 32 bits.
void set_buckets(MeasuredRow& row, std::int32_t rows) {
  constexpr double kBytes = 4, kMillion = 1e6, kMegabyte = 1 << 20;
  const double bucket = std::max(40, rows) * kMillion * kBytes / kMegabyte;
  set(row, "bucket", static_cast<std::int32_t>(bucket));
}

// Step times of GPT models (Bang et al. 2024, "vTrain: a simulation framework for evaluating
// cost-effective and compute-optimal large language model training", section V): every layer is
// computed again. The machines of the larger table have four ports of 200 Gb/s.
void add_vtrain(const CsvRow& csv, MeasuredTable& table) {
  const std::int32_t layers = csv.count("# layers"), hidden = csv.count("hidden size"),
                     heads = csv.count("attention heads"), sequence = csv.count("sequence length"),
                     tensor = csv.count("tensor parallelism"), data = csv.count("data parallelism"),
                     stages = csv.count("pipeline parallelism"), gpus = csv.count("# GPUs"),
                     micro_batch = csv.count("micro batch");
  MeasuredRow row = framework_row();
  row.model = fmt::format("GPT, {} layers of {}, {} GPUs, batch {}", layers, hidden, gpus,
                          csv.count("global batch"));
  row.label = fmt::format("{}, TP {} DP {} PP {}, micro-batch {}", row.model, tensor, data, stages,
                          micro_batch);
  row.config = gpt(layers, hidden, heads, sequence, 51200);
  row.sequence = sequence;
  row.flash = false;
  row.batch = csv.count("global batch");
  set(row, "tensor", tensor);
  set(row, "stages", stages);
  set(row, "micro_batches", divided(csv, "global batch", std::int64_t{data} * micro_batch));
  row.layout["recompute"] = "layers";
  row.layout["sequence"] = "false";
  row.machines = a100(gpus, 100);
  row.framework = MeasuredFramework::MegatronDeepSpeed;
  row.seconds = csv.number("iteration time (ms)") * 1e-3;
  table.rows.push_back(std::move(row));
}

// Megatron-LM with and without sequence parallelism and selective recomputation (Korthikanti et
// al. 2022, table 5). What selective recomputation leaves out is what flash attention leaves out.
void set_recomputation(const CsvRow& csv, MeasuredRow& row) {
  const std::string& how = csv.text("recompute");
  if (how == "full")
    row.layout["recompute"] = "layers";
  else if (how != "none" && how != "sequence-parallel" && !how.starts_with("selective"))
    csv.fail("recompute", fmt::format("\"{}\" is not known", how),
             "give none, full, or selective+sequence-parallel");
  row.flash = how.starts_with("selective");
  row.layout["sequence"] = how.ends_with("sequence-parallel") ? "true" : "false";
}

void add_korthikanti(const CsvRow& csv, MeasuredTable& table) {
  const std::int32_t tensor = csv.count("tensor"), stages = csv.count("pipeline"),
                     gpus = csv.count("gpus"), micro_batch = csv.count("micro_batch");
  MeasuredRow row = framework_row();
  row.model = csv.text("model");
  row.label = fmt::format("{}, {}", row.model, csv.text("recompute"));
  row.sequence = csv.count("sequence");
  row.config = gpt(csv.count("layers"), csv.count("hidden"), csv.count("heads"), row.sequence,
                   csv.count("vocabulary"));
  row.batch = csv.count("batch");
  set(row, "tensor", tensor);
  set(row, "stages", stages);
  set(row, "micro_batches",
      divided(csv, "batch", std::int64_t{std::max(1, gpus / tensor / stages)} * micro_batch));
  set_chunks(row, csv.count("interleave"));
  set_recomputation(csv, row);
  row.machines = a100(gpus, 200);
  row.seconds = csv.number("measured_s");
  table.rows.push_back(std::move(row));
}

// Bytes of the first stage of the same models (figures 1 and 7).
void add_korthikanti_memory(const CsvRow& csv, MeasuredTable& table) {
  const bool large = csv.text("model") == "175B";
  MeasuredRow row = framework_row();
  row.model = csv.text("model");
  row.label = fmt::format("{}, {}", row.model, csv.text("recompute"));
  if (csv.text("activations_gib").empty()) {
    table.left_out.push_back(row.label + ": only a share of another row's activations is given");
    return;
  }
  row.sequence = 2048;
  row.config = large ? gpt(96, 12288, 96, 2048, 51200) : gpt(48, 6144, 64, 2048, 51200);
  row.batch = large ? 64 : 4;
  set(row, "tensor", 8);
  set(row, "stages", large ? 8 : 1);
  set(row, "micro_batches", large ? 64 : 1);
  if (large) set_chunks(row, 3);
  set_recomputation(csv, row);
  row.machines = a100(large ? 64 : 8, 200);
  row.bytes = (csv.number("parameters_and_optimizer_gib") + csv.number("activations_gib")) * kGiB;
  table.rows.push_back(std::move(row));
}

// A GPT of about so many parameters with its head apart from its embedding, whose layers have 12
// h^2 each: of the usual hidden sizes h the one whose ratio to the layers is nearest to the usual
// one.
struct GptShape {
  std::int64_t layers = 0, hidden = 0;
};
GptShape gpt_shape(double parameters, std::int64_t vocabulary, std::int64_t stages) {
  constexpr double kUsualRatio = 150;
  constexpr std::int64_t kMostHidden = 65536;
  GptShape best;
  double furthest = std::numeric_limits<double>::infinity();
  for (std::int64_t hidden = 1024; hidden <= kMostHidden; hidden += hidden < 4096 ? 1024 : 2048) {
    const auto h = static_cast<double>(hidden);
    const double layers = (parameters - 2 * static_cast<double>(vocabulary) * h) / (12 * h * h);
    const std::int64_t rounds = std::llround(layers / static_cast<double>(stages));
    const double off = std::abs(std::log(h / std::max(layers, 1e-9) / kUsualRatio));
    if (rounds < 1 || off >= furthest) continue;
    furthest = off;
    best = {rounds * stages, hidden};
  }
  return best;
}

// "1.7B"; nothing where it is none.
std::optional<double> billions(std::string_view text) {
  constexpr double kLeast = 1e-3, kMost = 1e6, kBillion = 1e9;
  if (!text.ends_with('B')) return std::nullopt;
  const auto value = number_from<double>(text.substr(0, text.size() - 1), kLeast, kMost);
  return value ? std::optional(*value * kBillion) : std::nullopt;
}

// Megatron Core's weak scaling: operations a second, of which a step has those of its model
// (Narayanan et al. 2021, appendix; nothing is computed again).
void add_megatron_core(const CsvRow& csv, MeasuredTable& table) {
  const std::int32_t tensor = csv.count("tensor"), stages = csv.count("pipeline"),
                     gpus = csv.count("gpus"), data = csv.count("data");
  MeasuredRow row = framework_row();
  row.model = csv.text("parameters");
  row.label = fmt::format("{}, TP {} PP {}", row.model, tensor, stages);
  const std::optional<double> parameters = billions(row.model);
  if (!parameters) csv.fail("parameters", "are no number of billions", "give one, as 7.1B");
  row.sequence = csv.count("sequence");
  const std::int64_t vocabulary = csv.count("vocabulary");
  const GptShape shape = gpt_shape(*parameters, vocabulary, stages);
  if (shape.layers == 0)
    csv.fail("parameters", "are too few for the vocabulary and the stages", "give more");
  row.config = gpt(shape.layers, shape.hidden, shape.hidden / 128, row.sequence, vocabulary);
  row.config["tie_word_embeddings"] = false;
  row.batch = csv.count("global_batch");
  set(row, "tensor", tensor);
  set(row, "pieces", 0);  // --tp-comm-overlap, as the page says
  set(row, "stages", stages);
  set(row, "micro_batches", divided(csv, "global_batch", data));
  row.layout["shard"] = "updates";
  set_buckets(row, data);
  row.machines = h100(gpus);
  const auto h = static_cast<double>(shape.hidden), l = static_cast<double>(shape.layers),
             s = static_cast<double>(row.sequence), v = static_cast<double>(vocabulary);
  const double operations =
      72 * static_cast<double>(row.batch) * s * l * h * h * (1 + s / (6 * h) + v / (12 * h * l));
  row.seconds = operations / (csv.number("tflops_per_gpu") * 1e12 * gpus);
  table.rows.push_back(std::move(row));
}

// MLPerf Training 5.0: Llama 3.1 405B, products in 8 bits.
void add_mlperf(const CsvRow& csv, MeasuredTable& table) {
  const std::int32_t tensor = csv.count("tensor"), stages = csv.count("pipeline"),
                     context = csv.count("context"), gpus = csv.count("gpus");
  MeasuredRow row = framework_row();
  row.model = "Llama 3.1 405B";
  row.label =
      fmt::format("{} on {} GPUs, TP {} PP {} CP {}", row.model, gpus, tensor, stages, context);
  row.config = bundled_model("llama3_405b").value();
  row.sequence = csv.count("sequence");
  row.fp8 = true;
  row.batch = csv.count("global_batch");
  set(row, "tensor", tensor);
  set(row, "pieces", 0);  // NeMo's configurations of these have it
  set(row, "stages", stages);
  set(row, "context", context);
  set(row, "micro_batches",
      divided(csv, "global_batch", std::max(1, gpus / tensor / stages / context)));
  set_chunks(row, csv.count("interleave"));
  row.layout["shard"] = "updates";
  set_buckets(row, gpus / tensor / stages);
  row.machines = h100(gpus);
  row.seconds = csv.number("measured_s");
  table.rows.push_back(std::move(row));
}

// torchtitan's runs of December 2024, on H100s with slower memory than usual.
void add_torchtitan(const CsvRow& csv, MeasuredTable& table) {
  const std::int32_t gpus = csv.count("gpus"), stages = csv.count("pipeline"),
                     local_batch = csv.count("local_batch");
  const bool compiled = csv.text("compile") == "yes";
  MeasuredRow row = framework_row();
  row.model = csv.text("model");
  row.sequence = csv.count("sequence");
  row.label =
      fmt::format("{} on {} GPUs, sequence {}, FSDP {} TP {} CP {} PP {}{}{}", row.model, gpus,
                  row.sequence, csv.text("fsdp"), csv.text("tensor"), csv.text("context"), stages,
                  compiled ? ", compiled" : "", csv.text("float8") == "yes" ? ", float8" : "");
  const auto config = bundled_model(row.model);
  if (!config) {
    table.left_out.push_back(row.label + ": this model is not known here");
    return;
  }
  row.config = *config;
  row.fp8 = csv.text("float8") == "yes";
  row.batch = csv.count("global_batch");
  set(row, "tensor", csv.count("tensor"));
  set(row, "context", csv.count("context"));
  set(row, "stages", stages);
  set(row, "micro_batches", stages > 1 ? local_batch : 1);
  row.layout["shard"] = "parameters";
  const std::string& recompute = csv.text("recompute");
  row.layout["recompute"] = recompute == "full"        ? "layers"
                            : recompute == "selective" ? "cheap"
                                                       : "none";
  row.machines = h100(gpus);
  row.machines.memory_gbps = 2400;
  row.machines.memory_gib = 95;
  row.framework = compiled ? MeasuredFramework::TorchTitanCompiled : MeasuredFramework::TorchTitan;
  const double tokens = static_cast<double>(row.batch) * static_cast<double>(row.sequence);
  row.seconds = tokens / (csv.number("tokens_per_s_and_gpu") * gpus);
  row.bytes = csv.number("memory_gib") * kGiB;
  table.rows.push_back(std::move(row));
}

// The names of SimuMax' cases on a machine of B200: words of a model, then settings.
struct CaseName {
  std::string model;
  std::map<std::string, std::int32_t> settings;
  std::vector<std::string> unknown;  // words behind the model

  std::int32_t setting(const std::string& name, std::int32_t usual) const {
    const auto found = settings.find(name);
    return found == settings.end() ? usual : found->second;
  }
};

CaseName parse_case(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kSettings = {"l",  "tp",  "pp",  "dp", "ep",
                                                                "cp", "mbc", "mbs", "seq"};
  CaseName name;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find('_'));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t digits = std::min(word.find_first_of("0123456789"), word.size());
    const std::string_view key = word.substr(0, digits);
    const auto value = number_from<std::int32_t>(word.substr(digits), 1, 100'000'000);
    if (value && std::ranges::find(kSettings, key) != kSettings.end())
      name.settings[std::string(key)] = *value;
    else if (name.settings.empty())
      name.model += fmt::format("{}{}", name.model.empty() ? "" : "_", word);
    else if (word != "cef")  // a fused loss
      name.unknown.emplace_back(word);
  }
  return name;
}

void add_simumax(const CsvRow& csv, MeasuredTable& table) {
  const CaseName name = parse_case(csv.text("case"));
  const std::int32_t tensor = name.setting("tp", 1), stages = name.setting("pp", 1),
                     data = name.setting("dp", 1), context = name.setting("cp", 1);
  MeasuredRow row = framework_row();
  row.label = csv.text("case");
  const auto config = bundled_model(name.model);
  if (!config || !name.unknown.empty()) {
    table.left_out.push_back(
        config ? fmt::format("{}: \"{}\" is not known", row.label, name.unknown.front())
               : fmt::format("{}: the model {} is not known here", row.label, name.model));
    return;
  }
  row.config = *config;
  const std::int32_t layers =
      name.setting("l", row.config.value("num_hidden_layers", std::int32_t{1}));
  row.config["num_hidden_layers"] = layers;
  row.sequence = name.setting("seq", 4096);
  row.model = fmt::format("{}, {} layers, sequence {}, {} micro-batches", name.model, layers,
                          row.sequence, name.setting("mbc", 1));
  row.batch = std::int64_t{data} * name.setting("mbc", 1) * name.setting("mbs", 1);
  set(row, "tensor", tensor);
  set(row, "stages", stages);
  set(row, "context", context);
  set(row, "expert", name.setting("ep", 1));
  set(row, "micro_batches", name.setting("mbc", 1));
  row.layout["shard"] = "updates";
  set_buckets(row, data * context);
  constexpr double kMostGpus = 1e6;
  const double gpus = 1.0 * tensor * stages * data * context;
  if (gpus > kMostGpus) csv.fail("case", "has more than a million GPUs", "give fewer");
  row.machines = b200(tensor * stages * data * context);
  row.seconds = csv.number("measured_ms") * 1e-3;
  row.bytes = csv.number("measured_gib") * kGiB;
  row.others_seconds = csv.number("simumax_ms") * 1e-3;
  table.rows.push_back(std::move(row));
}

// Of a GPU in a hybrid cube mesh (NVIDIA DGX-1), 10^9 bytes a second: its six links lead to four
// others, and the first GPUs are joined by fewer.
double v100_fabric(std::int32_t gpus) {
  constexpr double kLink = 25;
  return kLink * (gpus == 2 ? 1 : gpus <= 4 ? 4 : 6);
}

// NCCL's AllReduce inside a machine.
void add_allreduce(const CsvRow& csv, MeasuredTable& table) {
  const std::string& gpu = csv.text("gpu");
  const std::int32_t gpus = csv.count("gpus");
  if (gpus < 2 || gpus > 8)
    csv.fail("gpus", fmt::format("{} are no members of a collective in a machine", gpus),
             "give 2 to 8");
  MeasuredCollective one = {{}, std::llround(csv.number("bytes")), csv.number("time_us") * 1e-6};
  if (gpu == "a100")
    one.machine = a100(gpus, 200);
  else if (gpu == "v100")
    one.machine = machines_of("V100-SXM2-32GB", gpus, v100_fabric(gpus), 50);
  else if (gpu == "h100")
    one.machine = h100(gpus);
  else if (gpu == "b200")
    one.machine = b200(gpus);
  else
    return table.left_out.push_back(fmt::format("{} x {}: this GPU is not known", gpus, gpu));
  table.collectives.push_back(std::move(one));
}

struct Format {
  std::string_view column;  // that only this one has
  void (*add)(const CsvRow&, MeasuredTable&);
};
constexpr std::array kFormats = {Format{"iteration time (ms)", add_vtrain},
                                 Format{"tflops_per_gpu", add_megatron_core},
                                 Format{"tokens_per_s_and_gpu", add_torchtitan},
                                 Format{"simumax_ms", add_simumax},
                                 Format{"nodes", add_mlperf},
                                 Format{"activations_gib", add_korthikanti_memory},
                                 Format{"interleave", add_korthikanti},
                                 Format{"time_us", add_allreduce}};

}  // namespace

std::string MeasuredMachines::name() const {
  return count == 1 ? fmt::format("{} x {}", gpus_per_machine, gpu)
                    : fmt::format("{} x {} x {}", count, gpus_per_machine, gpu);
}

MeasuredTable read_measured_table(const fs::path& file) {
  const CsvTable csv = CsvTable::read(file);
  const auto* format =
      std::ranges::find_if(kFormats, [&](const Format& one) { return csv.has(one.column); });
  if (format == kFormats.end())
    throw InputError(file.string(), "line 1", "is the header of no table that is known",
                     "give one in a format of resources/studies/llm");
  MeasuredTable table;
  table.name = file.stem().string();
  for (std::size_t i = 0; i < csv.size(); ++i) format->add(csv.row(i), table);
  std::ranges::for_each(table.rows, divide_layers);
  return table;
}

std::vector<fs::path> bundled_measured_tables() {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(home_directory() / "resources" / "studies" / "llm"))
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

}  // namespace strato::cli
