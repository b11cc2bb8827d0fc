// Chooses the GPU that a rank computes on; and errors of CUDA's runtime as ours.
#pragma once

#include <cuda_runtime.h>

#include <string>

namespace strato::replay_cuda {

// "cuda": the rank's place on its machine (as srun or mpirun says, else its number), modulo the
// GPUs; "cuda:2": that one. Throws InputError for another name, or a GPU that is not there.
int gpu_index(const std::string& device, int local_rank, int gpus);

// Reads the local rank from the environment of srun, mpirun or torchrun; else it is `rank`.
int local_rank(int rank);

// Counts the GPUs. Throws InputError when there is none, or no driver.
int gpu_count();

// Throws InputError: what fails here is the machine, not the program.
void cuda_check(cudaError_t status, const std::string& what);

}  // namespace strato::replay_cuda
