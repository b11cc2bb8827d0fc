// The few functions of NVML that are used, as its documentation declares them ("NVML API Reference
// Guide"): its header is not needed to build. All return 0 for success. Names, sizes and numbers
// are part of its stable C interface.
#pragma once

namespace strato::worker::nvml {

using Return = int;
using Device = struct DeviceTag*;

struct Memory {
  unsigned long long total, free, used;  // bytes
};

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device;
  unsigned device_id, subsystem_id;
  char bus_id[32];
};

struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  int type;
  Return result;
  union {
    double real;
    unsigned integer;
    unsigned long long large;
  } value;
};

inline constexpr Return kSuccess = 0;
inline constexpr int kTextSize = 96;
inline constexpr unsigned kMostLinks = 18;
inline constexpr int kClockSm = 1, kClockMemory = 2;
inline constexpr int kRemoteSwitch = 2;          // nvmlIntNvLinkDeviceType_t
inline constexpr unsigned kFieldLinkSpeed = 90;  // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON: 10^6 B/s

// Null: this driver does not have it.
struct Functions {
  Return (*init)();
  Return (*shutdown)();
  const char* (*error_text)(Return);
  Return (*driver_version)(char* text, unsigned size);
  Return (*count)(unsigned*);
  Return (*device)(unsigned index, Device*);
  Return (*name)(Device, char* text, unsigned size);
  Return (*memory)(Device, Memory*);
  Return (*pci)(Device, PciInfo*);
  Return (*cores)(Device, unsigned*);
  Return (*max_clock)(Device, int clock, unsigned* mhz);
  Return (*bus_width)(Device, unsigned* bits);
  Return (*compute)(Device, int* major, int* minor);
  Return (*pcie_generation)(Device, unsigned*);
  Return (*pcie_lanes)(Device, unsigned*);
  Return (*mig)(Device, unsigned* now, unsigned* pending);
  Return (*link_state)(Device, unsigned link, int* active);
  Return (*link_remote)(Device, unsigned link, PciInfo*);
  Return (*link_remote_type)(Device, unsigned link, int* type);
  Return (*fields)(Device, int count, FieldValue*);
};

}  // namespace strato::worker::nvml
