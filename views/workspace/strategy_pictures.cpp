#include "views/workspace/strategy_pictures.h"

#include "core/strategy/file/named_strategy.h"
#include "views/models/problem_source.h"
#include "views/workspace/placement_picture.h"

namespace strato {

// The workspace and its clusters as they were read: touched on the worker only.
struct StrategyPictures::Drawer {
  std::optional<Workspace> workspace;
  std::map<ClusterRow, std::shared_ptr<const Cluster>> clusters;

  QImage draw(const std::filesystem::path& file, const Key& key) {
    if (!workspace) workspace.emplace(file, true);
    const auto stored = workspace->strategies().find(key.strategy);
    if (!stored) return {};
    std::shared_ptr<const Cluster>& cluster = clusters[stored->cluster];
    if (!cluster) {
      const auto row = workspace->problems().cluster(stored->cluster);
      if (!row) return {};
      cluster = cluster_from(*row).cluster;
    }
    return placement_picture(parse_strategy(stored->json, "strategy of the workspace"), *cluster,
                             {key.width, key.height}, key.dark);
  }
};

StrategyPictures::StrategyPictures(QObject* parent)
    : QObject(parent), drawer_(std::make_shared<Drawer>()) {}

StrategyPictures::~StrategyPictures() = default;

void StrategyPictures::set_workspace(const std::filesystem::path& file) {
  if (file == file_) return;
  file_ = file;
  ++epoch_;
  images_.clear();
  order_.clear();
  drawer_ = std::make_shared<Drawer>();
}

QImage StrategyPictures::picture(StrategyRow strategy, const QSize& size, bool dark) {
  if (strategy <= 0 || size.isEmpty() || file_.empty()) return {};
  const Key key{strategy, size.width(), size.height(), dark};
  const auto [known, fresh] = images_.try_emplace(key);
  if (!fresh) return known->second;
  order_.push_back(key);
  if (order_.size() > kMost) {
    images_.erase(order_.front());
    order_.pop_front();
  }
  worker_.post([this, key, file = file_, drawer = drawer_, epoch = epoch_] {
    QImage image;
    try {
      image = drawer->draw(file, key);
    } catch (const std::exception&) {  // opening it says what is wrong with it
    }
    QMetaObject::invokeMethod(
        this, [this, epoch, key, image] { take(epoch, key, image); }, Qt::QueuedConnection);
  });
  return {};
}

void StrategyPictures::take(std::uint64_t epoch, const Key& key, const QImage& image) {
  if (epoch != epoch_ || image.isNull()) return;
  const auto wanted = images_.find(key);
  if (wanted == images_.end()) return;
  wanted->second = image;
  emit made(key.strategy);
}

void StrategyPictures::wait() { worker_.wait(); }

}  // namespace strato
