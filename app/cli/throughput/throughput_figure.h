// A throughput as a person reads it off a log.
#pragma once

#include <cstdint>
#include <string>

namespace strato::cli {

// What a step does, to tell a figure of throughput by.
struct StepWork {
  std::int64_t samples = 1;
  std::int64_t tokens = 0;  // 0: samples are no sequences of tokens
  std::int64_t devices = 1;
  double flops = 0;  // of the model, without what is computed again
  double peak = 0;   // floating-point operations a second that all devices have at most
};

// Seconds of a step: "1.93 s", "850 ms", "52,300 tokens/s", "5762 tokens/s/GPU", "12 samples/s",
// "410 TFLOP/s" and "410 TFLOP/s/GPU" (of a GPU), "41 % MFU". Throws InputError for any other text,
// and for tokens of a model that has none.
double step_seconds(const std::string& text, const StepWork& work);

// "12,345 tokens/s/GPU, 410 TFLOP/s/GPU, 41 % MFU", of what there is.
std::string throughput_text(double seconds, const StepWork& work);

}  // namespace strato::cli
