// A worker pool for pictures: four threads, leases that are extended while a picture takes long,
// and the pictures of one album one after the other, so that its page grows in order.
#include <atomic>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <tableq/tableq.hpp>

namespace {

using namespace std::chrono_literals;

/// The contents of the albums' pages, in place of files.
class gallery {
 public:
  void show(const std::string& album, int picture) {
    const std::scoped_lock hold(mutex_);
    in_order_ = in_order_ && picture == ++last_[album];
  }
  [[nodiscard]] bool in_order() const {
    const std::scoped_lock hold(mutex_);
    return in_order_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> last_;  // guarded by mutex_
  bool in_order_ = true;             // guarded by mutex_
};

}  // namespace

int main(int argc, char** argv) try {
  auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://pictures.db");
  auto pictures = db.claim("thumbnails", {.lease = 1min, .max_attempts = 3, .groups = {}});
  for (int picture = 1; picture <= 5; ++picture) {
    for (const char* album : {"sea", "hills", "town", "friends"}) {
      pictures.enqueue(std::to_string(picture), {.group = album});
    }
  }

  gallery pages;
  const auto shrink = [&](const tableq::delivery& picture) {
    pages.show(*picture.group, std::stoi(picture.payload));
    return tableq::handled::completed();
  };
  tableq::worker pool(pictures, shrink, {.threads = 4, .until_empty = true});
  pool.join();
  std::cout << "thumbnails: " << pool.counts().completed
            << ", albums in order: " << (pages.in_order() ? "yes" : "no") << '\n';
} catch (const tableq::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
