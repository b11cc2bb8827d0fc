#include "tests/app/explorer/watchdog/slow_disk.h"

#include <sqlite3.h>

#include <atomic>
#include <thread>

namespace strato {
namespace {

std::atomic<int> each_ms = 0;
std::atomic<std::size_t> all_waits = 0, maker_waits = 0;
std::thread::id maker;

void wait_for_disk() {
  const int ms = each_ms;
  if (ms == 0) return;
  ++all_waits;
  if (std::this_thread::get_id() == maker) ++maker_waits;
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

// SQLite's own file follows this one in the same memory.
struct SlowFile {
  sqlite3_file base;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<SlowFile*>(file)->real(); }
const sqlite3_io_methods& of(sqlite3_file* file) { return *real(file)->pMethods; }

int read_file(sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
  wait_for_disk();
  return of(f).xRead(real(f), to, size, at);
}
int write_file(sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
  wait_for_disk();
  return of(f).xWrite(real(f), from, size, at);
}
int sync_file(sqlite3_file* f, int flags) {
  wait_for_disk();
  return of(f).xSync(real(f), flags);
}

const sqlite3_io_methods kMethods = {
    2,  // without memory maps, which would read unseen
    [](sqlite3_file* f) { return of(f).xClose(real(f)); },
    read_file,
    write_file,
    [](sqlite3_file* f, sqlite3_int64 size) { return of(f).xTruncate(real(f), size); },
    sync_file,
    [](sqlite3_file* f, sqlite3_int64* size) { return of(f).xFileSize(real(f), size); },
    [](sqlite3_file* f, int level) { return of(f).xLock(real(f), level); },
    [](sqlite3_file* f, int level) { return of(f).xUnlock(real(f), level); },
    [](sqlite3_file* f, int* held) { return of(f).xCheckReservedLock(real(f), held); },
    [](sqlite3_file* f, int op, void* with) { return of(f).xFileControl(real(f), op, with); },
    [](sqlite3_file* f) { return of(f).xSectorSize(real(f)); },
    [](sqlite3_file* f) { return of(f).xDeviceCharacteristics(real(f)); },
    [](sqlite3_file* f, int region, int size, int extend, void volatile** at) {
      return of(f).xShmMap(real(f), region, size, extend, at);
    },
    [](sqlite3_file* f, int offset, int count, int flags) {
      return of(f).xShmLock(real(f), offset, count, flags);
    },
    [](sqlite3_file* f) { of(f).xShmBarrier(real(f)); },
    [](sqlite3_file* f, int remove) { return of(f).xShmUnmap(real(f), remove); },
    nullptr,
    nullptr};

sqlite3_vfs* underlying = nullptr;

int open_slowly(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* got) {
  wait_for_disk();
  file->pMethods = nullptr;
  const int result = underlying->xOpen(underlying, name, real(file), flags, got);
  if (real(file)->pMethods) file->pMethods = &kMethods;
  return result;
}

// Once made it stays, as connections may outlive a SlowDisk; without one it does not wait.
void install() {
  static sqlite3_vfs slow = [] {
    underlying = sqlite3_vfs_find(nullptr);
    sqlite3_vfs copy = *underlying;
    copy.zName = "slow";
    copy.szOsFile = static_cast<int>(sizeof(SlowFile)) + underlying->szOsFile;
    copy.xOpen = open_slowly;
    return copy;
  }();
  sqlite3_vfs_register(&slow, 1);
}

}  // namespace

SlowDisk::SlowDisk(std::chrono::milliseconds each) {
  install();
  all_waits = maker_waits = 0;
  maker = std::this_thread::get_id();
  each_ms = static_cast<int>(each.count());
}

SlowDisk::~SlowDisk() { each_ms = 0; }

std::size_t SlowDisk::waits() const { return all_waits; }
std::size_t SlowDisk::waits_of_maker() const { return maker_waits; }

}  // namespace strato
