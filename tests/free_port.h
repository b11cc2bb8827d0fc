// Where processes of a test can meet.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "core/base/error.h"

namespace strato {

// One that the system says nobody uses.
inline int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  CHECK(socket >= 0 && ::bind(socket, plain, size) == 0 && ::getsockname(socket, plain, &size) == 0,
        "no port is free");
  ::close(socket);
  return ntohs(address.sin_port);
}

inline std::string free_master() { return "127.0.0.1:" + std::to_string(free_port()); }

}  // namespace strato
