-- MySQL dump 10.13  Distrib 8.0.36
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop`;
USE `shop`;

DROP TABLE IF EXISTS `visits`;
CREATE TABLE `visits` (
  `id` int NOT NULL,
  `at` datetime DEFAULT NULL
) ENGINE=InnoDB;
LOCK TABLES `visits` WRITE;
INSERT INTO `visits` VALUES (1,'2024-01-01 00:00:00'),(2,'CREATE TABLE x (y int);');
UNLOCK TABLES;
USE `other`;
CREATE TEMPORARY TABLE scratch (a int);
CREATE TABLE `plain` (`a` int KEY, `b` int UNIQUE KEY);
ALTER TABLE `shop`.`visits`
  ADD PRIMARY KEY (`id`),
  ADD KEY `at` (`at`),
  ADD COLUMN `who` varchar(20) NOT NULL AFTER `id`,
  ADD (`x` int, `y` int);
ALTER TABLE shop.visits MODIFY `id` bigint NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=7;
