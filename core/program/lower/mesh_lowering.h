// Lowers an op that stands on a mesh (MeshRoles::tensor): its rows have their samples, and the
// columns of a row compute the op together, in equal parts along the letter that was chosen for it,
// or each all of it; what experts compute is divided over rows, too (MeshRoles::expert), and so are
// positions (MeshRoles::context). Internal
// to core/program. Not thread safe.
#pragma once

#include "core/program/exchange/exchange.h"
#include "core/program/lower/pipeline.h"

namespace strato {

class MeshLowering : ExchangeBase {
 public:
  MeshLowering(const ExchangeBase& base, Exchange& exchange, MeshExchange& meshes)
      : ExchangeBase(base), exchange_(exchange), meshes_(meshes) {}
  // Its outputs are declared. `order`: as OpLowering::set_order() has it.
  void lower(OpId op, CellOrder* order);
  // As OpLowering::bring_input().
  Instance bring(OpId op, std::size_t input, std::size_t shard);

 private:
  Part part_read(OpId op, std::size_t input, std::size_t shard);
  Part part_made(OpId op, std::size_t output, std::size_t shard);
  Part samples(TensorId tensor, const Layout& layout, std::size_t shard);
  PartId part_of(OpId op, std::size_t shard);
  void compute(OpId op, std::size_t shard, CellOrder* order);
  void view(OpId op, std::size_t shard);

  Exchange& exchange_;
  MeshExchange& meshes_;
};

}  // namespace strato
