// Checks of how single variables are synchronised, what their messages take, and words about them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/strategy/value/strategy.h"

namespace strato {

// The place and the remedies of what is wrong with a list of ops.
struct OpListTexts {
  const char* place;
  const char* choose = "choose an op of the model";
  const char* once = "name each op once";
  const char* sort = "sort the ops";
};
// Throws InputError unless the ops ascend, each is there once, and all are of the model.
void validate_ops(std::span<const OpId> ops, const OpListTexts& texts, const Grouping& grouping);

// Checks of Strategy::variables what can be told without the graph; validate() calls it. Throws
// InputError (place: "synchronised variables", or the variable and part) for variables out of
// order, there twice or outside the model; no part; a partition that its number of parts is not the
// product of, or along too many axes; a server or station that the cluster lacks, stations out of
// order or two in one machine; what belongs to the other synchroniser; a merge group below -1, of
// several encodings or sequences, or of what is gathered (sparse rows, top-k, low rank); a sequence
// that misses or repeats a replica of its (decided, replicated) group, or names another device;
// sufficient factors of a part, at a server, merged or in a sequence; a staleness below zero, or of
// what is all-reduced.
void validate_variables(const Strategy& strategy, const Grouping& grouping, const Cluster& cluster);

// Checks what takes the graph to tell. Throws InputError for an op that updates no parameter, an
// axis that the parameter does not have, more parts than its extent, sparse rows of what is not
// looked up alone, sufficient factors of what is no product, a low rank of what is no matrix, a
// merge group of variables of several types.
void validate_variables(const Strategy& strategy, const Graph& graph);

// The parameter that an op updates; invalid: none.
TensorId parameter_of(const Graph& graph, OpId update);

// Returns the number of rows of the parameter that the batch looks up at most, where its gradient
// comes from look-ups along axis 0 alone (Gather); 0: it does not.
std::int64_t looked_up_rows(const Graph& graph, OpId update);

// The ops that make the parameter's gradient as products of matrices over the samples, alone or
// added up: of MatMul, Gemm, and Conv whose windows are single points. Ascending; empty: something
// else is in it.
std::vector<OpId> gradient_products(const Graph& graph, OpId update);

// Has its gradient a low rank to speak of? Two axes or more, of which the first counts the rows and
// the others the columns (as PowerSGD has it), and floating point numbers.
bool is_matrix(const Tensor& variable);

// A message of a part of a variable's gradient, over some samples of the batch, takes the
// following. Sparse rows: as many rows as these samples look up, or all; each with its number (8
// bytes). Top-k: a hundredth of the elements, at least one, each with its place (8 bytes). Half: 2
// bytes an element. Sufficient factors: what the products read, of these samples. Low rank: pairs
// of a column and a row, four or as many as there are rows or columns.
Bytes encoded_bytes(const Graph& graph, OpId update, Encoding encoding, const Part& part,
                    std::int64_t samples);

// Does training with it mean what it means on one device: no lossy encoding, no staleness?
bool keeps_results(const Strategy& strategy);

// Into how many parts it divides; 2^31 for more than these, and for a negative number.
std::int64_t part_count(std::span<const std::int32_t> partition);
// "2 parts along axis 0", "6 parts, 2x3 along axes 0 and 1"; empty: whole.
std::string describe_division(const VariableSync& variable);
// "embed.w: 2 parts along axis 0: PS on v100:0 by v100:1; AllReduce, half, group 3".
std::string describe(const VariableSync& variable, const Graph& graph, const Cluster& cluster);

}  // namespace strato
