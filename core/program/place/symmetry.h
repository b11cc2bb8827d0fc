// Symmetry: devices whose timelines are provably identical ("twins") are lowered and simulated
// once.
//
// Twins are devices of one GPU type that
//   (a) occur together, in the same layouts, with as many samples; and where two layouts give one
//       of them the same samples, they do so for all of them;
//   (b) are at neither end of a transfer, and sum up nothing for others.
// Every exchange that touches them is then a collective of all of them or of none, or a Split of
// what they have. Only the first of them, the representative, gets tasks, buffers and streams;
// collectives keep their cost, their bytes and all their links.
//
// The timeline of what is kept is bit by bit that of the full program:
// 1. What twins run is the same. By (a) an op has a task on all of them or on none, of the same
//    duration (which depends on GPU type and number of samples), and by (b) its inputs come from
//    the twin's own tasks, or from collectives of all twins. So exchanging two twins maps the full
//    program on itself.
// 2. Ties are broken as before. Tasks are emitted op by op, and in an op device by device. A
//    collective is emitted when the first device of a layout asks for it. That device is the lowest
//    in its layout, and so of its twins, which are all in the layout: it is a representative.
//    Leaving out other devices' tasks therefore moves no task before another: ids of the kept tasks
//    ascend in the same order. A queue compares (priority, ready time, id), so its order is the
//    same; and since each stream of a twin holds at most one task of an op beside its Splits,
//    emitted in the order of the op's inputs, its queue is its representative's with names
//    exchanged.
// 3. By induction over the moments at which tasks end: before each, a stream of a twin is free, or
//    its queue begins with a task, exactly when this holds for its representative. A collective
//    can start when it is first in the queues of all members' streams and links and all are free;
//    for streams it is enough to ask the representatives. So the same kept tasks start, and a left
//    out task starts when its twin does. Its dependents, if kept, are collectives that also wait
//    for that twin: their ready time does not change.
// Memory follows: a twin takes and releases buffers of equal size at the same moments; only what is
// resident can differ, where layouts overlap differently, and is counted for every device.
//
// Meshes (MeshRoles::tensor) have twins, too: the columns of a row compute equal parts, and rows
// with as many samples do the same. Their collectives are not of all twins, but of the rows and
// columns that the twins stand in, and twins may send what other twins receive. So (b) does not
// hold for them. What must hold instead is watched while they are lowered (MeshTwins): each such
// exchange of the kept devices has its like among the others', of the same duration, with twins in
// equal roles, on links that no two of them share. Then the induction goes through as it is: of
// equal tasks on equal streams and links, each finds its own as free as its twin does.
#pragma once

#include <array>
#include <map>
#include <set>
#include <vector>

#include "core/program/place/readers.h"

namespace strato {

// Which devices stand for others.
struct Fold {
  IdVector<DeviceId, DeviceId> representative;  // itself, unless it is left out
  // Resident bytes beyond the representative's; may be negative.
  IdVector<DeviceId, Bytes> more_resident;
  IdVector<DeviceId, std::size_t> stands_for;  // so many devices, itself included; 0: left out
  // The device works on meshes alone: its links are as busy as those of its representative.
  IdVector<DeviceId, char> on_meshes;
  std::size_t left_out = 0;                   // devices; 0: the program is the full one
  IdVector<DeviceId, std::int32_t> place_of;  // among those that are kept; -1: left out

  bool keeps(DeviceId device) const { return representative[device] == device; }
};

// Of the strategy that is placed: how many devices are kept, and where one is among them.
inline std::size_t kept_devices(const Tables& tables, const Placement& placement) {
  const Fold* fold = placement.fold();
  return tables.cluster->device_count() - (fold ? fold->left_out : 0);
}
inline std::size_t kept_place(const Placement& placement, DeviceId device) {
  const Fold* fold = placement.fold();
  return fold ? static_cast<std::size_t>(fold->place_of[device]) : device.index();
}

// Which devices of a mesh may be twins.
enum class MeshTwinsIn : std::uint8_t { RowsAndColumns, Rows, Columns, None };
// Rows share states along axes that are chosen later. Are twins told apart by the shares that any
// axis could make uneven, or taken to have equal ones, so that MeshTwins finds where they do not?
enum class SharesOfTwins : std::uint8_t { AsIfEqual, ToldApart };

// Finds the twins of a placement. Keeps its memory from call to call; not thread safe.
class Symmetry {
 public:
  Symmetry(const Tables& tables, const Placement& placement)
      : tables_(tables), placement_(placement), readers_(tables, placement) {}
  void find(Fold& fold, MeshTwinsIn meshes, SharesOfTwins shares);
  // Of the last placement: are there meshes, so that other twins may be found in them?
  bool has_meshes() const { return has_meshes_; }

 private:
  using Class = std::int32_t;
  void list_layouts();
  void start_classes();
  void split_classes();
  void list_shares();
  std::size_t place_in(const Layout& layout, std::size_t shard) const;
  void split_by(LayoutId layout);
  void count_classes();
  void single_out(DeviceId device);
  void single_out_all(LayoutId layout);
  bool check_ops(const std::vector<OpId>& ops);
  void check_input(OpId op, TensorId tensor);
  void check_slices(const Layout& made, LayoutId made_id, const Layout& read);
  void single_out_beside_meshes();
  void choose_representatives(Fold& fold);
  bool keeps_grid(const Layout& mesh, const Fold& fold) const;
  bool is_collective(TensorId tensor);
  void count_residents(Fold& fold);

  const Tables& tables_;
  const Placement& placement_;
  Readers readers_;
  MeshTwinsIn in_meshes_ = MeshTwinsIn::None;
  std::vector<LayoutId> layouts_;  // in use
  bool has_meshes_ = false;
  // By how many rows share states: the shares with which smaller ones of some tensor begin.
  std::map<std::size_t, std::set<std::size_t>> shares_;
  std::vector<std::uint32_t> used_;  // by layout: == round_
  std::uint32_t round_ = 0;
  struct Kinds {
    IdVector<DeviceId, Class> of;
    Class count = 0;  // 0: not asked yet
  };
  std::array<Kinds, 2> kinds_;          // of GPUs; where there are meshes, of their ports, too
  IdVector<DeviceId, Class> class_of_;  // -1: singled out
  Class classes_ = 0;                   // that there were, those without a device included
  std::vector<std::int32_t> size_of_;   // by class
  std::size_t large_ = 0;               // classes of two and more
  struct Key {
    Class old;
    std::int32_t samples, alike;
    std::size_t place;  // in a mesh, where that tells twins apart
    std::size_t share;  // of states: of which rows it has as much
    DeviceId device;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys_;
};

}  // namespace strato
