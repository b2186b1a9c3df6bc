dlasim_test(products_test.cpp quick USES dlasim::golden)
