// What a framework's configuration is read for, what is read from it, and what every framework asks
// of its numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/framework/given/given_arguments.h"
#include "core/framework/layout/training_layout.h"

namespace strato::frameworks {

struct Argument {
  std::string name;   // "--num-layers"
  std::string value;  // empty: a flag
  friend bool operator==(const Argument&, const Argument&) = default;
};

// What several frameworks leave to the program that they train, said by somebody who knows it.
struct Program {
  std::int32_t stages = 0;            // 0: nobody said so
  std::int32_t micro_batch_size = 0;  // samples of a row at once; 0: nobody said so
  std::optional<Recompute> recompute = std::nullopt;
};

// What the configuration is for.
struct Training {
  std::int32_t layers = 1;
  std::int64_t devices = 1, batch = 1;
  std::int64_t devices_of_machine = 1;  // of each: 1 where machines have other numbers of devices
  std::vector<Argument> model;          // what Megatron-LM's arguments of the model would be
  Program program = {};

  std::int64_t experts() const;  // 0: none
};

struct ReadLayout {
  TrainingLayout layout;
  // What was read and changes nothing here: names of arguments, and sentences.
  std::vector<std::string> passed_over, remarks;
};

// Checks of numbers that are read already. All throw InputError, which blames the named argument.

// The rows that columns, rows with the same samples, and stages leave of the devices.
void find_rows(TrainingLayout& layout, const Training& training, const GivenArguments& given,
               std::string_view blamed);
// Micro-batches of so many samples a row, of the training's batch.
void divide_batch(TrainingLayout& layout, const Training& training, const GivenArguments& given,
                  std::int64_t samples, std::string_view blamed);
// So many micro-batches.
void divide_batch_in(TrainingLayout& layout, const Training& training, const GivenArguments& given,
                     std::int32_t steps, std::string_view blamed);
// Rows that take so many samples at once, a turn after the other, and micro-batches of so many of
// these. Returns the turns.
std::int64_t divide_turns(TrainingLayout& layout, const Training& training,
                          const GivenArguments& given, std::int64_t row,
                          std::string_view row_blamed, std::int64_t samples,
                          std::string_view samples_blamed);
// Is the training's batch what is given?
void check_batch(const Training& training, const GivenArguments& given, std::int64_t batch,
                 std::string_view blamed);
// Stages of as many layers as each other; throws where they do not divide the layers.
void divide_layers(TrainingLayout& layout, const Training& training, const GivenArguments& given,
                   std::string_view blamed);
// The blocks that a text like Megatron-LM's (stage_string.h) says, all of the model's layers;
// chunks are as many as they make.
void read_stage_string(TrainingLayout& layout, const Training& training,
                       const GivenArguments& given, const std::string& text,
                       const std::string& blamed);
void check_experts(const TrainingLayout& layout, const Training& training,
                   const GivenArguments& given, std::string_view blamed);
// ZeRO's, 0 to 3, by the value of this name; `usual` where there is none, or "auto".
std::int32_t zero_stage_of(GivenArguments& given, const std::string& name, std::int32_t usual);
// So many rows have the states among them; all of a stage: 0.
void share_states(TrainingLayout& layout, std::int32_t stage, std::int32_t rows,
                  const GivenArguments& given, std::string_view blamed);

}  // namespace strato::frameworks
