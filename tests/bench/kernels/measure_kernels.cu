// Measures kernels of the GPU that it runs on: what the analytic cost model is held against.
//
//   nvcc -O3 -std=c++17 -arch=native -o measure_kernels measure_kernels.cu -lcublasLt
//   ./measure_kernels > GPU.csv        (about a minute; 9 GB of GPU memory, 2 GB of the host's)
//
// Prints comment lines (#: the GPU, driver and libraries) and a CSV, one line per measurement:
//
//   kind       matmul: one product of cuBLASLt, [m, k] x [k, n], the algorithm that its heuristics
//              name first, 32 MiB of workspace. The second operand lies as [n, k], as frameworks'
//              linear layers have it, but for attention's second product. fp8 is e4m3 with fast
//              accumulation and a bf16 result; all others have results of their own type.
//              copy, add, gelu (m elements), layernorm and softmax (m rows of n): kernels of this
//              file, 16 bytes per access.
//              launch: an empty kernel of m blocks of n threads.
//              h2d, d2h, d2d: cudaMemcpyAsync.
//   precision  of the operands; of h2d and d2h the host's memory: pinned or pageable
//   batch      of independent products
//   bytes      read and written once on the device; of h2d and d2h the payload
//   flops      of a product only
//   cache      cold: buffers rotate over at least 256 MB, more than any L2 holds; hot: always the
//              same buffers (16 MB at most, but for the host's)
//   issue      stream: launched one after the other; graph: 200 of them in a CUDA graph;
//              sustained: for a second before the measurement, too; sync: one, timed by the host
//   *_us       of one operation; each repetition is a run of operations of 2 ms or more between
//              two events (or a single operation that takes longer)
//   repeats    operations measured in all
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

#define CHECK_CUDA(call)                                                          \
  do {                                                                            \
    const cudaError_t error = (call);                                             \
    if (error != cudaSuccess) {                                                   \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (false)
#define CHECK_BLAS(call)                                                                \
  do {                                                                                  \
    const cublasStatus_t status = (call);                                               \
    if (status != CUBLAS_STATUS_SUCCESS) {                                              \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cublasLtGetStatusString(status)); \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (false)

namespace {

using std::int64_t;
using std::size_t;

constexpr size_t kPool = size_t{4} << 30;       // of operands, and as much of results
constexpr size_t kRotated = size_t{256} << 20;  // cold buffers are at least so far apart
constexpr size_t kHot = size_t{16} << 20;       // what surely stays in L2
constexpr size_t kWorkspace = size_t{32} << 20;
constexpr int kGraphNodes = 200;
constexpr double kRunMs = 2, kRowMs = 60;

cudaStream_t stream;
cudaEvent_t begin_event, end_event;
char *operands, *results, *workspace;
cublasLtHandle_t blas;

// ---- measuring

struct Row {
  std::string kind, precision;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  double bytes = 0, flops = 0;
};

struct Times {
  std::vector<double> us;  // of one operation, each of a run
  int64_t repeats = 0;

  double at(double quantile) const {
    std::vector<double> sorted = us;
    std::sort(sorted.begin(), sorted.end());
    const double place = quantile * static_cast<double>(sorted.size() - 1);
    const auto low = static_cast<size_t>(place);
    const size_t high = std::min(low + 1, sorted.size() - 1);
    return sorted[low] + (sorted[high] - sorted[low]) * (place - static_cast<double>(low));
  }
};

void print(const Row& row, const char* cache, const char* issue, const Times& times) {
  std::printf("%s,%s,%lld,%lld,%lld,%lld,%.0f,%.0f,%s,%s,%.3f,%.3f,%.3f,%lld\n", row.kind.c_str(),
              row.precision.c_str(), static_cast<long long>(row.batch),
              static_cast<long long>(row.m), static_cast<long long>(row.n),
              static_cast<long long>(row.k), row.bytes, row.flops, cache, issue, times.at(0.5),
              times.at(0.1), times.at(0.9), static_cast<long long>(times.repeats));
  std::fflush(stdout);
}

// Launches one operation into `stream`; the argument counts them, for buffers that rotate.
using Operation = std::function<void(int64_t)>;

double run_ms(const std::function<void()>& work) {
  float ms = 0;
  CHECK_CUDA(cudaEventRecord(begin_event, stream));
  work();
  CHECK_CUDA(cudaEventRecord(end_event, stream));
  CHECK_CUDA(cudaEventSynchronize(end_event));
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaEventElapsedTime(&ms, begin_event, end_event));
  return ms;
}

// `unit` is `per_unit` operations; runs of it last kRunMs or more, all of them about kRowMs.
Times measure_units(const std::function<void()>& unit, int per_unit) {
  const auto several = [&](int count) {
    return [&unit, count] {
      for (int i = 0; i < count; ++i) unit();
    };
  };
  run_ms(several(2));
  double once = std::min(run_ms(unit), run_ms(unit));
  if (once < 0.5) once = run_ms(several(50)) / 50;
  const int inner = std::clamp(static_cast<int>(std::ceil(kRunMs / once)), 1, 2000);
  const int runs = std::clamp(static_cast<int>(kRowMs / (inner * once)), 5, 25);
  Times times;
  for (int run = 0; run < runs; ++run) {
    times.us.push_back(run_ms(several(inner)) * 1e3 / inner / per_unit);
    times.repeats += static_cast<int64_t>(inner) * per_unit;
  }
  return times;
}

Times measure(const Operation& operation) {
  int64_t count = 0;
  return measure_units([&] { operation(count++); }, 1);
}

Times measure_in_graph(const Operation& operation) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kGraphNodes; ++i) operation(0);
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  const Times times =
      measure_units([&] { CHECK_CUDA(cudaGraphLaunch(executable, stream)); }, kGraphNodes);
  CHECK_CUDA(cudaGraphExecDestroy(executable));
  CHECK_CUDA(cudaGraphDestroy(graph));
  return times;
}

// Cold, and where its buffers fit into L2 also hot, launched and in a graph.
void measure_and_print(const Row& row, const Operation& operation) {
  print(row, "cold", "stream", measure(operation));
  if (row.bytes > static_cast<double>(kHot)) return;
  const Operation hot = [&](int64_t) { operation(0); };
  print(row, "hot", "stream", measure(hot));
  print(row, "hot", "graph", measure_in_graph(hot));
}

// Buffers of operation `count` among those that rotate.
struct Rotation {
  size_t in, out;  // bytes, aligned
  int64_t slots;

  Rotation(size_t in_bytes, size_t out_bytes) : in(aligned(in_bytes)), out(aligned(out_bytes)) {
    if (in > kPool || out > kPool) {
      std::fprintf(stderr, "%zu and %zu bytes do not fit\n", in, out);
      std::exit(1);
    }
    const size_t wanted = kRotated / (in + out) + 1;
    slots = static_cast<int64_t>(std::min(wanted, std::min(kPool / in, kPool / out)));
  }
  static size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }
  char* operand(int64_t count) const { return operands + in * static_cast<size_t>(count % slots); }
  char* result(int64_t count) const { return results + out * static_cast<size_t>(count % slots); }
};

// ---- kernels

__device__ float random_normal(uint64_t index) {
  uint64_t x = index * 0x9E3779B97F4A7C15ull + 0x1234567;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  x ^= x >> 31;
  float sum = 0;  // of four uniform numbers, variance 1/3 each
  for (int i = 0; i < 4; ++i)
    sum += static_cast<float>((x >> (16 * i)) & 0xFFFF) * (2.0f / 65535) - 1;
  return sum * 0.866f;
}

template <class T>
__global__ void fill_kernel(T* out, size_t count) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count;
       i += size_t{gridDim.x} * blockDim.x)
    out[i] = T(random_normal(i));
}

// 16 bytes of T.
template <class T>
struct alignas(16) Pack {
  static constexpr int kSize = 16 / sizeof(T);
  T at[kSize];
};

struct Copy {
  __device__ static float apply(float a, float) { return a; }
};
struct Add {
  __device__ static float apply(float a, float b) { return a + b; }
};
struct Gelu {
  __device__ static float apply(float a, float) {
    return 0.5f * a * (1 + tanhf(0.7978846f * (a + 0.044715f * a * a * a)));
  }
};

template <class T, class F, int kInputs>
__global__ void map_kernel(const Pack<T>* a, const Pack<T>* b, Pack<T>* out, size_t packs) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < packs;
       i += size_t{gridDim.x} * blockDim.x) {
    const Pack<T> x = a[i], y = kInputs == 2 ? b[i] : x;
    Pack<T> z;
    for (int j = 0; j < Pack<T>::kSize; ++j)
      z.at[j] = T(F::apply(static_cast<float>(x.at[j]), static_cast<float>(y.at[j])));
    out[i] = z;
  }
}

// What a row is reduced to: its sum and its sum of squares; or its greatest value and the sum of
// exp(x - greatest).
struct Sums {
  float first = 0, second = 0;

  __device__ Sums with(const Sums& o) const { return {first + o.first, second + o.second}; }
  template <class T>
  __device__ void add(const Pack<T>& x) {
    for (int j = 0; j < Pack<T>::kSize; ++j) {
      first += static_cast<float>(x.at[j]);
      second += static_cast<float>(x.at[j]) * static_cast<float>(x.at[j]);
    }
  }
};
struct Exponentials {
  float first = -1e30f, second = 0;

  __device__ Exponentials with(const Exponentials& o) const {
    const float greatest = fmaxf(first, o.first);
    return {greatest, second * __expf(first - greatest) + o.second * __expf(o.first - greatest)};
  }
  template <class T>
  __device__ void add(const Pack<T>& x) {
    float greatest = first;
    for (int j = 0; j < Pack<T>::kSize; ++j)
      greatest = fmaxf(greatest, static_cast<float>(x.at[j]));
    second *= __expf(first - greatest);
    first = greatest;
    for (int j = 0; j < Pack<T>::kSize; ++j) second += __expf(static_cast<float>(x.at[j]) - first);
  }
};

// Over the threads of a row, a block's x: one warp, or more of them that have the block alone.
template <class S>
__device__ S over_row(S mine) {
  for (int lane = 16; lane > 0; lane /= 2)
    mine = mine.with(
        S{__shfl_xor_sync(~0u, mine.first, lane), __shfl_xor_sync(~0u, mine.second, lane)});
  if (blockDim.x == 32) return mine;
  __shared__ float first[32], second[32];
  if (threadIdx.x % 32 == 0) {
    first[threadIdx.x / 32] = mine.first;
    second[threadIdx.x / 32] = mine.second;
  }
  __syncthreads();
  S all;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) all = all.with(S{first[warp], second[warp]});
  return all;
}

// A row is read twice, the second time mostly from cache.
template <class T, class S, class Finish>
__device__ void row_kernel(const T* in, T* out, int rows, int columns, Finish finish) {
  const int packs = columns / Pack<T>::kSize;
  const size_t row = blockIdx.x * size_t{blockDim.y} + threadIdx.y;
  if (row >= rows) return;
  const auto* from = reinterpret_cast<const Pack<T>*>(in) + row * packs;
  auto* to = reinterpret_cast<Pack<T>*>(out) + row * packs;
  S mine;
  for (int i = threadIdx.x; i < packs; i += blockDim.x) mine.add(from[i]);
  const S all = over_row(mine);
  for (int i = threadIdx.x; i < packs; i += blockDim.x) {
    Pack<T> x = from[i];
    for (int j = 0; j < Pack<T>::kSize; ++j)
      x.at[j] = T(finish(all, static_cast<float>(x.at[j]), i * Pack<T>::kSize + j));
    to[i] = x;
  }
}

template <class T>
__global__ void __launch_bounds__(1024)
    layernorm_kernel(const T* in, const T* scale, const T* shift, T* out, int rows, int columns) {
  row_kernel<T, Sums>(in, out, rows, columns, [=](const Sums& all, float x, int column) {
    const float mean = all.first / columns;
    const float variance = all.second / columns - mean * mean;
    return (x - mean) * rsqrtf(variance + 1e-5f) * static_cast<float>(scale[column]) +
           static_cast<float>(shift[column]);
  });
}

template <class T>
__global__ void __launch_bounds__(1024) softmax_kernel(const T* in, T* out, int rows, int columns) {
  row_kernel<T, Exponentials>(in, out, rows, columns, [](const Exponentials& all, float x, int) {
    return __expf(x - all.first) * __frcp_rn(all.second);
  });
}

// About four packs of a row for each thread; rows of one warp share a block with three others.
template <class T>
void launch_rows(bool softmax, const T* in, const T* scale, T* out, int64_t rows, int64_t columns) {
  const auto packs = static_cast<unsigned>(columns) / Pack<T>::kSize;
  const unsigned x = std::clamp(packs / 4 / 32 * 32, 32u, 1024u), y = x == 32 ? 4 : 1;
  const auto blocks = static_cast<unsigned>((rows + y - 1) / y);
  const auto r = static_cast<int>(rows), c = static_cast<int>(columns);
  if (softmax)
    softmax_kernel<T><<<blocks, dim3(x, y), 0, stream>>>(in, out, r, c);
  else
    layernorm_kernel<T><<<blocks, dim3(x, y), 0, stream>>>(in, scale, scale + columns, out, r, c);
}

__global__ void empty_kernel() {}

template <class T>
void fill_operands() {
  fill_kernel<<<4096, 256, 0, stream>>>(reinterpret_cast<T*>(operands), kPool / sizeof(T));
  CHECK_CUDA(cudaStreamSynchronize(stream));
}

// ---- products

struct Type {
  const char* name;
  cudaDataType_t in, out;
  cublasComputeType_t compute;
  size_t in_size, out_size;
};
const Type kBf16 = {"bf16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2, 2};
const Type kFp16 = {"fp16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2, 2};
const Type kTf32 = {"tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4, 4};
const Type kFp32 = {"fp32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 4, 4};
const Type kFp8 = {"fp8", CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1, 2};

struct Shape {
  int64_t m, n, k, batch = 1;
  bool second_by_rows = false;  // [k, n] in memory, not [n, k]
};

// Row-major result [m, n] is column-major [n, m]: the second operand goes first.
class Product {
 public:
  Product(const Type& type, const Shape& shape)
      : type_(type),
        shape_(shape),
        first_bytes_(Rotation::aligned(type.in_size * shape.batch * shape.m * shape.k)),
        rotation_(first_bytes_ + type.in_size * shape.batch * shape.k * shape.n,
                  type.out_size * shape.batch * shape.m * shape.n) {
    const cublasOperation_t second = shape.second_by_rows ? CUBLAS_OP_N : CUBLAS_OP_T;
    CHECK_BLAS(cublasLtMatmulDescCreate(&description_, type.compute, CUDA_R_32F));
    set(CUBLASLT_MATMUL_DESC_TRANSA, second);
    if (type.in == CUDA_R_8F_E4M3) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, int8_t{1});
    second_ = shape.second_by_rows ? layout(type.in, shape.n, shape.k)
                                   : layout(type.in, shape.k, shape.n);
    first_ = layout(type.in, shape.k, shape.m);
    result_ = layout(type.out, shape.n, shape.m);
    choose();
  }
  ~Product() {
    cublasLtMatrixLayoutDestroy(first_);
    cublasLtMatrixLayoutDestroy(second_);
    cublasLtMatrixLayoutDestroy(result_);
    cublasLtMatmulDescDestroy(description_);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  bool possible() const { return possible_; }
  const char* first(int64_t count) const { return rotation_.operand(count); }
  const char* second(int64_t count) const { return first(count) + first_bytes_; }

  void operator()(int64_t count) const {
    const float one = 1, zero = 0;
    char* result = rotation_.result(count);
    CHECK_BLAS(cublasLtMatmul(blas, description_, &one, second(count), second_, first(count),
                              first_, &zero, result, result_, result, result_, &algorithm_,
                              workspace, kWorkspace, stream));
  }

  Row row() const {
    const auto m = static_cast<double>(shape_.m), n = static_cast<double>(shape_.n),
               k = static_cast<double>(shape_.k), batch = static_cast<double>(shape_.batch);
    const double bytes = batch * ((m * k + k * n) * static_cast<double>(type_.in_size) +
                                  m * n * static_cast<double>(type_.out_size));
    return {"matmul", type_.name, shape_.batch, shape_.m,
            shape_.n, shape_.k,   bytes,        2 * batch * m * n * k};
  }

 private:
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(description_, attribute, &value, sizeof value));
  }

  cublasLtMatrixLayout_t layout(cudaDataType_t type, int64_t rows, int64_t columns) const {
    cublasLtMatrixLayout_t made;
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&made, type, rows, columns, rows));
    const auto batch = static_cast<int32_t>(shape_.batch);
    const int64_t stride = rows * columns;
    CHECK_BLAS(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                                sizeof batch));
    CHECK_BLAS(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                &stride, sizeof stride));
    return made;
  }

  void choose() {
    cublasLtMatmulPreference_t preference;
    CHECK_BLAS(cublasLtMatmulPreferenceCreate(&preference));
    CHECK_BLAS(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace, sizeof kWorkspace));
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        blas, description_, second_, first_, result_, result_, preference, 1, &found, &count);
    possible_ = status == CUBLAS_STATUS_SUCCESS && count == 1;
    algorithm_ = found.algo;
    cublasLtMatmulPreferenceDestroy(preference);
  }

  Type type_;
  Shape shape_;
  size_t first_bytes_;
  Rotation rotation_;
  cublasLtMatmulDesc_t description_ = nullptr;
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, result_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_;
  bool possible_ = false;
};

// Layers of a transformer: attention's projections in and out, and both of its MLP.
void add_layers(std::vector<Shape>& shapes, std::vector<int64_t> tokens,
                std::vector<int64_t> widths, bool all_four) {
  for (const int64_t t : tokens)
    for (const int64_t h : widths) {
      const int64_t mlp = h == 4096 || h == 8192 ? h * 7 / 2 : h * 4;
      shapes.push_back({t, h, h});
      shapes.push_back({t, mlp, h});
      if (!all_four) continue;
      shapes.push_back({t, 3 * h, h});
      shapes.push_back({t, h, mlp});
    }
}

void add_cubes(std::vector<Shape>& shapes, std::vector<int64_t> extents) {
  for (const int64_t extent : extents) shapes.push_back({extent, extent, extent});
}

// Scores (queries by keys) and their product with the values, for every head of every sequence.
void add_attention(std::vector<Shape>& shapes, std::vector<int64_t> heads,
                   std::vector<int64_t> lengths, std::vector<int64_t> widths) {
  for (const int64_t batch : heads)
    for (const int64_t length : lengths)
      for (const int64_t width : widths) {
        shapes.push_back({length, length, width, batch});
        shapes.push_back({length, width, length, batch, true});
      }
}

void add_skinny(std::vector<Shape>& shapes, std::vector<int64_t> rows,
                std::vector<std::pair<int64_t, int64_t>> weights) {
  for (const int64_t m : rows)
    for (const auto& [n, k] : weights) shapes.push_back({m, n, k});
}

const std::vector<int64_t> kCubes = {64,  128,  192,  256,  384,  512,
                                     768, 1024, 2048, 4096, 8192, 16384};

std::vector<Shape> bf16_shapes() {
  std::vector<Shape> shapes;
  add_cubes(shapes, kCubes);
  add_cubes(shapes, {65, 129, 257, 500, 1000, 1023, 2049, 4097});
  shapes.push_back({1000, 3000, 777});
  shapes.push_back({333, 4099, 1234});
  for (const int64_t odd : {4095, 4098, 4100, 4104}) {  // rows that start at odd places
    shapes.push_back({odd, 4096, 4096});
    shapes.push_back({4096, odd, 4096});
    shapes.push_back({4096, 4096, odd});
  }
  shapes.push_back({4096, 50304, 768});
  add_skinny(shapes, {1, 2, 4, 8, 16, 32, 64},
             {{4096, 4096}, {14336, 4096}, {4096, 14336}, {3072, 768}});
  add_layers(shapes, {512, 2048, 8192}, {768, 1024, 2048, 4096, 5120, 8192}, true);
  add_layers(shapes, {16384}, {4096}, true);
  for (int64_t m = 512; m <= 3072; m += 256) shapes.push_back({m, 4096, 4096});  // waves of tiles
  for (const int64_t tokens : {512, 4096})
    for (const int64_t width : {768, 2048, 4096})
      for (const int64_t words : {32000, 50257, 128256}) shapes.push_back({tokens, words, width});
  for (const int64_t width : {768, 4096})  // gradients of weights sum over the tokens
    for (const int64_t tokens : {2048, 8192, 16384}) shapes.push_back({width, 4 * width, tokens});
  add_attention(shapes, {96, 128, 512}, {512, 1024}, {64, 128});
  add_attention(shapes, {96}, {2048, 4096}, {64, 128});
  return shapes;
}

std::vector<Shape> fp16_shapes() {
  std::vector<Shape> shapes;
  add_cubes(shapes, kCubes);
  add_skinny(shapes, {1, 16}, {{4096, 4096}, {3072, 768}});
  add_layers(shapes, {2048}, {768, 1024, 2048, 4096, 5120, 8192}, false);
  add_attention(shapes, {96}, {512, 2048}, {64});
  return shapes;
}

std::vector<Shape> tf32_shapes() {
  std::vector<Shape> shapes;
  add_cubes(shapes, kCubes);
  add_cubes(shapes, {257, 500, 1000, 1023, 2049});
  for (const int64_t odd : {4095, 4098}) {
    shapes.push_back({4096, odd, 4096});
    shapes.push_back({4096, 4096, odd});
  }
  add_layers(shapes, {512, 2048, 8192}, {768, 1024, 2048, 4096}, false);
  shapes.push_back({4096, 32000, 768});
  shapes.push_back({4096, 50257, 768});
  add_attention(shapes, {96}, {512, 2048}, {64});
  return shapes;
}

std::vector<Shape> fp32_shapes() {
  std::vector<Shape> shapes;
  add_cubes(shapes, kCubes);
  add_cubes(shapes, {257, 500, 1000, 1023, 2049});
  add_skinny(shapes, {1, 16}, {{4096, 4096}, {3072, 768}});
  add_layers(shapes, {512, 2048}, {768, 1024, 4096}, false);
  add_attention(shapes, {96}, {512}, {64});
  return shapes;
}

std::vector<Shape> fp8_shapes() {
  std::vector<Shape> shapes;
  add_cubes(shapes, kCubes);
  add_skinny(shapes, {16, 64}, {{4096, 4096}, {14336, 4096}});
  add_layers(shapes, {512, 2048, 8192}, {2048, 4096, 8192}, true);
  shapes.push_back({4096, 32000, 4096});
  shapes.push_back({4096, 128256, 4096});
  return shapes;
}

template <class T>
float host_value(const char* memory, size_t index) {
  T value;
  CHECK_CUDA(cudaMemcpy(&value, memory + index * sizeof(T), sizeof(T), cudaMemcpyDeviceToHost));
  return static_cast<float>(value);
}

// A few elements against sums in double precision: the layouts are as they are said to be.
template <class In, class Out>
void check_product(const Type& type, bool second_by_rows) {
  const Shape shape{192, 160, 128, 2, second_by_rows};
  const Product product(type, shape);
  if (!product.possible()) return;
  CHECK_CUDA(cudaMemset(results, 0xFF, 2 * 192 * 160 * sizeof(Out)));
  product(0);
  CHECK_CUDA(cudaStreamSynchronize(stream));
  const auto value = [&](const char* memory, int64_t index) {
    return host_value<In>(memory, static_cast<size_t>(index));
  };
  for (const int64_t i : {0, 77, 191})
    for (const int64_t j : {0, 50, 159}) {
      double expected = 0;
      for (int64_t k = 0; k < shape.k; ++k)
        expected += value(product.first(0), (shape.m + i) * shape.k + k) *
                    value(product.second(0), second_by_rows ? (shape.k + k) * shape.n + j
                                                            : (shape.n + j) * shape.k + k);
      const float found =
          host_value<Out>(results, static_cast<size_t>((shape.m + i) * shape.n + j));
      if (!(std::abs(found - expected) < 0.15)) {
        std::fprintf(stderr, "%s: %g, expected %g\n", type.name, found, expected);
        std::exit(1);
      }
    }
}

template <class In, class Out>
void measure_products(const Type& type, const std::vector<Shape>& shapes) {
  fill_operands<In>();
  check_product<In, Out>(type, false);
  check_product<In, Out>(type, true);
  std::set<std::array<int64_t, 4>> seen;
  for (const Shape& shape : shapes) {
    if (!seen.insert({shape.m, shape.n, shape.k, shape.batch}).second) continue;
    const Product product(type, shape);
    if (product.possible())
      measure_and_print(product.row(), std::cref(product));
    else
      std::printf("# no %s product of %lld x %lld x %lld\n", type.name,
                  static_cast<long long>(shape.m), static_cast<long long>(shape.n),
                  static_cast<long long>(shape.k));
  }
}

template <class In>
void measure_sustained(const Type& type) {
  fill_operands<In>();
  const Product product(type, {8192, 8192, 8192});
  if (!product.possible()) return;
  int64_t count = 0;
  for (double ms = 0; ms < 1000;)
    ms += run_ms([&] {
      for (int i = 0; i < 10; ++i) product(count++);
    });
  print(product.row(), "cold", "sustained", measure(std::cref(product)));
}

// ---- streams, rows, launches, copies

template <class T, class F, int kInputs>
void measure_maps(const char* kind, const char* precision) {
  for (size_t bytes = 1 << 10; bytes <= size_t{2} << 30;
       bytes *= bytes == size_t{1} << 30 ? 2 : 4) {
    const size_t packs = std::max<size_t>(1, bytes / 16 / (kInputs + 1));
    const size_t one = packs * 16;
    const Rotation rotation(kInputs * one, one);
    const auto blocks = static_cast<unsigned>(std::min<size_t>((packs + 255) / 256, 1 << 16));
    Row row{kind, precision, 1, static_cast<int64_t>(packs * Pack<T>::kSize), 1, 1};
    row.bytes = static_cast<double>((kInputs + 1) * one);
    measure_and_print(row, [&](int64_t count) {
      const char* in = rotation.operand(count);
      map_kernel<T, F, kInputs><<<blocks, 256, 0, stream>>>(
          reinterpret_cast<const Pack<T>*>(in), reinterpret_cast<const Pack<T>*>(in + one),
          reinterpret_cast<Pack<T>*>(rotation.result(count)), packs);
    });
  }
}

// The last of three rows against sums in double precision.
template <class T>
void check_rows(bool softmax, int64_t columns) {
  const auto* in = reinterpret_cast<const T*>(operands);
  const int64_t row = 2;
  CHECK_CUDA(cudaMemset(results, 0xFF, 3 * columns * sizeof(T)));
  launch_rows(softmax, in, in, reinterpret_cast<T*>(results), 3, columns);
  CHECK_CUDA(cudaStreamSynchronize(stream));
  const auto value = [&](const char* memory, int64_t at_row, int64_t column) {
    return double{host_value<T>(memory, static_cast<size_t>(at_row * columns + column))};
  };
  double sum = 0, squares = 0, exponentials = 0;
  for (int64_t i = 0; i < columns; ++i) {
    const double x = value(operands, row, i);
    sum += x, squares += x * x, exponentials += std::exp(x);
  }
  const double mean = sum / columns, deviation = std::sqrt(squares / columns - mean * mean);
  for (int64_t i = 0; i < columns; i += 7) {
    const double x = value(operands, row, i), found = value(results, row, i);
    const double expected =
        softmax ? std::exp(x) / exponentials
                : (x - mean) / deviation * value(operands, 0, i) + value(operands, 1, i);
    if (std::abs(found - expected) < (softmax ? 0.01 * expected : 0.05)) continue;
    std::fprintf(stderr, "row kernel: %g, expected %g\n", found, expected);
    std::exit(1);
  }
}

template <class T>
void measure_rows(const char* kind, const char* precision, std::vector<int64_t> widths) {
  const bool softmax = kind[0] == 's';
  check_rows<T>(softmax, 512);
  check_rows<T>(softmax, 4096);
  for (const int64_t columns : widths)
    for (int64_t rows = 16; rows <= 65536; rows *= 4) {
      const size_t one = static_cast<size_t>(rows * columns) * sizeof(T);
      if (one > size_t{1} << 30) continue;
      const size_t parameters = softmax ? 0 : 2 * static_cast<size_t>(columns) * sizeof(T);
      const Rotation rotation(one + parameters, one);
      Row row{kind, precision, 1, rows, columns, 1};
      row.bytes = static_cast<double>(2 * one + parameters);
      measure_and_print(row, [&](int64_t count) {
        const auto* in = reinterpret_cast<const T*>(rotation.operand(count));
        launch_rows(softmax, in, in + rows * columns, reinterpret_cast<T*>(rotation.result(count)),
                    rows, columns);
      });
    }
}

void measure_launches() {
  for (const auto& [blocks, threads] : {std::pair{1, 32}, {132, 256}, {1056, 256}, {8448, 256}}) {
    Row row{"launch", "none", 1, blocks, threads, 1};
    const auto launch = [blocks = blocks, threads = threads](int64_t) {
      empty_kernel<<<blocks, threads, 0, stream>>>();
    };
    print(row, "hot", "stream", measure(launch));
    print(row, "hot", "graph", measure_in_graph(launch));
    Times times;
    for (int i = 0; i < 300; ++i) {
      const auto start = std::chrono::steady_clock::now();
      launch(0);
      CHECK_CUDA(cudaStreamSynchronize(stream));
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - start;
      times.us.push_back(took.count());
      ++times.repeats;
    }
    print(row, "hot", "sync", times);
  }
}

void measure_copies() {
  constexpr size_t most = size_t{1} << 30;
  char *pinned, *pageable = static_cast<char*>(std::malloc(most));
  CHECK_CUDA(cudaMallocHost(&pinned, most));
  std::fill_n(pinned, most, 'p');
  std::fill_n(pageable, most, 'q');
  for (const bool is_pinned : {true, false})
    for (size_t bytes = 4 << 10; bytes <= most; bytes *= 4) {
      char* host = is_pinned ? pinned : pageable;
      Row row{"h2d", is_pinned ? "pinned" : "pageable", 1, static_cast<int64_t>(bytes), 1, 1};
      row.bytes = static_cast<double>(bytes);
      print(row, "hot", "stream", measure([&](int64_t) {
              CHECK_CUDA(cudaMemcpyAsync(operands, host, bytes, cudaMemcpyHostToDevice, stream));
            }));
      row.kind = "d2h";
      print(row, "hot", "stream", measure([&](int64_t) {
              CHECK_CUDA(cudaMemcpyAsync(host, operands, bytes, cudaMemcpyDeviceToHost, stream));
            }));
    }
  for (size_t bytes = 4 << 10; bytes <= most; bytes *= 4) {
    const Rotation rotation(bytes, bytes);
    Row row{"d2d", "none", 1, static_cast<int64_t>(bytes), 1, 1};
    row.bytes = static_cast<double>(2 * bytes);
    print(row, "cold", "stream", measure([&](int64_t count) {
            CHECK_CUDA(cudaMemcpyAsync(rotation.result(count), rotation.operand(count), bytes,
                                       cudaMemcpyDeviceToDevice, stream));
          }));
  }
  CHECK_CUDA(cudaFreeHost(pinned));
  std::free(pageable);
}

void print_head() {
  cudaDeviceProp device;
  int driver = 0, runtime = 0, sm_khz = 0, memory_khz = 0;
  CHECK_CUDA(cudaGetDeviceProperties(&device, 0));
  CHECK_CUDA(cudaDriverGetVersion(&driver));
  CHECK_CUDA(cudaRuntimeGetVersion(&runtime));
  CHECK_CUDA(cudaDeviceGetAttribute(&sm_khz, cudaDevAttrClockRate, 0));
  CHECK_CUDA(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, 0));
  std::printf("# %s, %d multiprocessors, %.0f MB of L2, %.1f GB\n", device.name,
              device.multiProcessorCount, device.l2CacheSize * 1e-6,
              static_cast<double>(device.totalGlobalMem) * 1e-9);
  std::printf("# highest clocks: %d MHz, memory %d MHz\n", sm_khz / 1000, memory_khz / 1000);
  std::printf("# CUDA %d of the driver, %d of the runtime, cuBLASLt %zu\n", driver, runtime,
              cublasLtGetVersion());
  std::printf(
      "kind,precision,batch,m,n,k,bytes,flops,cache,issue,median_us,p10_us,p90_us,repeats\n");
}

}  // namespace

int main() {
  print_head();
  CHECK_CUDA(cudaStreamCreate(&stream));
  CHECK_CUDA(cudaEventCreate(&begin_event));
  CHECK_CUDA(cudaEventCreate(&end_event));
  CHECK_CUDA(cudaMalloc(&operands, kPool));
  CHECK_CUDA(cudaMalloc(&results, kPool));
  CHECK_CUDA(cudaMalloc(&workspace, kWorkspace));
  CHECK_BLAS(cublasLtCreate(&blas));

  measure_launches();
  measure_products<__nv_bfloat16, __nv_bfloat16>(kBf16, bf16_shapes());
  measure_products<__half, __half>(kFp16, fp16_shapes());
  measure_products<__nv_fp8_e4m3, __nv_bfloat16>(kFp8, fp8_shapes());
  measure_products<float, float>(kTf32, tf32_shapes());
  measure_products<float, float>(kFp32, fp32_shapes());

  fill_operands<float>();
  measure_maps<float, Copy, 1>("copy", "fp32");
  measure_maps<float, Add, 2>("add", "fp32");
  measure_maps<float, Gelu, 1>("gelu", "fp32");
  measure_rows<float>("layernorm", "fp32", {1024, 4096});
  measure_rows<float>("softmax", "fp32", {512, 2048});
  fill_operands<__nv_bfloat16>();
  measure_maps<__nv_bfloat16, Add, 2>("add", "bf16");
  measure_maps<__nv_bfloat16, Gelu, 1>("gelu", "bf16");
  measure_rows<__nv_bfloat16>("layernorm", "bf16", {768, 4096, 8192});
  measure_rows<__nv_bfloat16>("softmax", "bf16", {512, 2048, 32000});

  measure_copies();
  measure_sustained<__nv_bfloat16>(kBf16);
  measure_sustained<__nv_fp8_e4m3>(kFp8);
  CHECK_CUDA(cudaDeviceSynchronize());
  return 0;
}
