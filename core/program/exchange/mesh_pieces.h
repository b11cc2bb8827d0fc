// In pieces (MeshRoles::pieces), what a row gathers for products, or scatters of what they made, is
// on its way while these compute: its task takes what is left of its time. Its stream and its links
// are free for others meanwhile. Not thread safe.
#pragma once

#include <vector>

#include "core/program/exchange/mesh_parts.h"

namespace strato {

class MeshPieces : public MeshParts {
 public:
  using MeshParts::Collected;
  using MeshParts::MeshParts;

  // `shard`: one of the row.
  void hide_gathering(Collected& what, OpId reader, TensorId tensor, std::size_t shard) const;
  void hide_scattering(Collected& what, TensorId tensor, std::size_t shard) const;

 private:
  using Products = std::vector<OpId>;
  void add_readers(OpId reader, TensorId gathered, TensorId view, Products& products) const;
  void add_makers(TensorId tensor, int steps, Products& products) const;
  void hide_behind(Collected& what, const Products& products, DeviceId device) const;
};

}  // namespace strato
