// A study: a table of a paper as a file. Rows are models, columns are clusters; a cell is what the
// paper reports. The format is described in resources/studies/README.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strato::cli {

// How the paper's system exchanged gradients; what is simulated for a cell.
enum class Exchange {
  Host,       // variables in the host's memory: every GPU reads them and sends gradients there
  Ps,         // variables divided over the GPUs
  AllReduce,  // every GPU keeps its own
};

struct StudyColumn {
  std::string label, cluster;  // cluster: a file, or the name of a sample
  int gpus_per_machine = 1;    // that are used; 0: all
};

struct StudyRow {
  std::string label, model;
  std::int64_t batch = 1;
  std::map<std::string, std::int64_t> dimensions;
  Exchange exchange = Exchange::AllReduce;
  double items = 1;  // that the paper counts for one sample of our model (tokens of a sentence)
};

struct StudyCell {
  std::size_t row = 0, column = 0;
  std::optional<double> seconds_or_speed;  // in the study's unit; nothing: out of memory
  // The constants may be fitted on it. Cells are black and white like a chess board, so that
  // which half a cell belongs to was settled before any number was computed.
  bool calibrate = false;
};

struct Study {
  std::string file, name, source, calibration;
  bool per_gpu_batch = false;  // a row's batch is each GPU's (weak scaling)
  bool in_seconds = false;     // a step's time; else samples (items) per second
  std::vector<StudyColumn> columns;
  std::vector<StudyRow> rows;
  std::vector<StudyCell> cells;  // row by row; cells that the paper leaves out are not there
};

// Throws InputError with the exact place.
Study read_study(const std::filesystem::path& file);
Study parse_study(std::string_view json, const std::string& file);

}  // namespace strato::cli
