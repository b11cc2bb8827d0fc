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
  void hide_behind(Collected& what, std::vector<OpId> products, TensorId tensor,
                   std::size_t shard) const;
};

}  // namespace strato
